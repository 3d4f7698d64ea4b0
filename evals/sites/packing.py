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
from urllib.parse import unquote, urljoin, urlsplit
from uuid import UUID

import lxml.html
from lxml.html import HtmlElement


def pack_package(
    package: Path,
    target: Path,
    *,
    base: str,
    root: str,
    choose: Callable[[Path], Iterable[str]],
    date: datetime | None = None,
) -> int:
    """Write `target` from a Debian package and return the number of responses.

    `date` is when the pages were fetched, None the date of each file. `choose` is given the unpacked directory `root`
    of the package, and names the files below it that are the site, in the order in which they are packed. Ends the
    program when the package does not hold that directory.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", str(package), folder], check=True)
        unpacked = Path(folder) / root
        if not unpacked.is_dir():
            raise SystemExit(f"{package} holds no {root}")
        files = [(page_url(base, name), unpacked / name) for name in choose(unpacked)]
        write_warc(target, files, date)
    return len(files)


def files_below(root: Path) -> list[str]:
    """All files below a directory, relative to it, folder by folder."""
    return [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]


def reachable(root: Path, start: str, *, base: str, belongs: Callable[[str], bool]) -> set[str]:
    """The pages that links lead to from a start page over pages that belong to the site: files below `root`, relative
    to it. `base` is the URL of `root`."""
    pages = {start}
    queue = [start]
    for name in queue:  # grows during the iteration
        document = lxml.html.document_fromstring((root / name).read_bytes())
        linked = linked_files(document, name, base, tag="a", attribute="href")
        new = {page for page in linked - pages if page.endswith(".html") and belongs(page) and (root / page).is_file()}
        pages |= new
        queue.extend(sorted(new))
    return pages


def linked_files(document: HtmlElement, page: str, base: str, *, tag: str, attribute: str) -> set[str]:
    """The files that a page's links or pictures mean, relative to the site's root; none of another site or scheme."""
    page_base = urljoin(page_url(base, page), str(document.xpath("string(//base/@href)")))
    site_path = unquote(urlsplit(base).path)
    files = set()
    for link in {(element.get(attribute) or "").partition("#")[0].strip() for element in document.iter(tag)}:
        absolute = urljoin(page_base, link)
        if absolute.startswith(base):
            path = unquote(urlsplit(absolute).path).removeprefix(site_path)
            files.add(f"{path}index.html" if path.endswith("/") or not path else path)
    return files


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


def write_warc(target: Path, files: list[tuple[str, Path]], date: datetime | None = None) -> None:
    """One response record per (URL, file), compressed record by record so that each can be read alone.

    Deterministic: dates are those of the files unless one `date` is given, identifiers those of the URLs.
    """
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, path in files:
            body = path.read_bytes()
            modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
            fetched = date or modified
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
                    "WARC-Date": fetched.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "WARC-Record-ID": _record_id(url),
                },
            )
            writer.write_record(record)


def _record_id(url: str) -> str:
    return f"<urn:uuid:{UUID(hashlib.md5(url.encode(), usedforsecurity=False).hexdigest())}>"


def _content_type(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind in ("text/html", "text/plain") else kind
