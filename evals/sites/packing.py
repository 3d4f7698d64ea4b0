"""Frozen sites as WARC files: the files of a Debian package as HTTP responses under the URLs they have on the web."""

from __future__ import annotations

import argparse
import hashlib
import io
import mimetypes
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from uuid import UUID


def pack_package(package: Path, target: Path, *, base: str, root: str, choose: Callable[[Path], Iterable[str]]) -> int:
    """Write `target` from a Debian package and return the number of responses.

    `choose` is given the unpacked directory `root` of the package, and names the files below it that are the site, in
    the order in which they are packed. Ends the program when the package does not hold that directory.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", str(package), folder], check=True)
        unpacked = Path(folder) / root
        if not unpacked.is_dir():
            raise SystemExit(f"{package} holds no {root}")
        files = [(page_url(base, name), unpacked / name) for name in choose(unpacked)]
        write_warc(target, files)
    return len(files)


def files_below(root: Path) -> list[str]:
    """All files below a directory, relative to it, folder by folder."""
    return [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]


def run_command(description: str | None, pack: Callable[[Path, Path], int]) -> None:
    """Command line entry of a script that packs one site: `pack`, given the package and the target, returns the number
    of responses."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    print(f"{pack(arguments.package, arguments.target)} responses in {arguments.target}")


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
