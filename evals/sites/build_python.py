"""Pack the Python 3.11 documentation as a frozen site: Debian package -> WARC of HTTP responses under real URLs.

    apt-get download python3.11-doc
    python -m evals.sites.build_python python3.11-doc_*.deb evals/sites/python-3.11.warc.gz

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import mimetypes
import subprocess
import tempfile
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from uuid import UUID

BASE = "https://docs.python.org/3.11/"
_ROOT = "usr/share/doc/python3.11/html"
_LEFT_OUT = ("_sources/", "_downloads/")


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", str(package), folder], check=True)
        root = Path(folder) / _ROOT
        files = sorted(
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix != ".gz" and not _relative(path, root).startswith(_LEFT_OUT)
        )
        if not files:
            raise SystemExit(f"{package} holds no {_ROOT}")
        write_warc(target, [(_url(_relative(path, root)), path) for path in files])
    return len(files)


def write_warc(target: Path, files: list[tuple[str, Path]]) -> None:
    """One response record per (URL, file), compressed record by record so that each can be read alone."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    def record_id(url: str) -> str:
        return f"<urn:uuid:{UUID(hashlib.md5(url.encode(), usedforsecurity=False).hexdigest())}>"

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
                    "WARC-Record-ID": record_id(url),
                },
            )
            writer.write_record(record)


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _url(relative: str) -> str:
    return BASE + relative.removesuffix("index.html") if relative.endswith("index.html") else BASE + relative


def _content_type(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind in ("text/html", "text/plain") else kind


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    print(f"{pack(arguments.package, arguments.target)} responses in {arguments.target}")


if __name__ == "__main__":
    main()
