"""Frozen sites as WARC files: the files of a Debian package as HTTP responses under the URLs they have on the web."""

from __future__ import annotations

import hashlib
import io
import mimetypes
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from uuid import UUID


def extract(package: Path, folder: Path, root: str) -> Path:
    """Unpack a Debian package into `folder` and return the path of its directory `root`. Ends the program when the
    package does not hold that directory."""
    subprocess.run(["dpkg-deb", "--extract", str(package), str(folder)], check=True)
    if not (folder / root).is_dir():
        raise SystemExit(f"{package} holds no {root}")
    return folder / root


def page_url(base: str, relative: str) -> str:
    """URL of a file on the site; an index file goes by its directory."""
    directory, _, name = relative.rpartition("/")
    if name != "index.html":
        return base + relative
    return f"{base}{directory}/" if directory else base


def write_warc(target: Path, files: list[tuple[str, Path]]) -> None:
    """One response record per (URL, file), compressed record by record so that each can be read alone.

    Deterministic: dates are those of the files, identifiers those of the URLs.
    """
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, path in files:
            body = path.read_bytes()
            modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
            digest = hashlib.sha1(body, usedforsecurity=False).hexdigest()
            headers = [
                ("Content-Type", _content_type(path)),
                ("Content-Length", str(len(body))),
                ("Last-Modified", format_datetime(modified, usegmt=True)),
                ("ETag", f'"{digest[:20]}"'),
            ]
            record = writer.create_warc_record(
                url,
                "response",
                payload=io.BytesIO(body),
                http_headers=StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1"),
                warc_headers_dict={
                    "WARC-Date": modified.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "WARC-Record-ID": _record_id(url),
                },
            )
            writer.write_record(record)


def _record_id(url: str) -> str:
    return f"<urn:uuid:{UUID(hashlib.md5(url.encode(), usedforsecurity=False).hexdigest())}>"


def _content_type(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind in ("text/html", "text/plain") else kind
