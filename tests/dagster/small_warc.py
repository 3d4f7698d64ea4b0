"""A site of a few pages as a WARC file, so that a second file can be the same site on another day."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def write_site(path: Path, pages: Mapping[str, str]) -> Path:
    """Write `pages` (URL -> HTML) and return `path`."""
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, html in pages.items():
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(url, "response", payload=BytesIO(html.encode()), http_headers=headers)
            )
    return path
