"""A site of a few pages as a WARC file, so that a second file can be the same site on another day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def write_site(
    path: Path,
    pages: Mapping[str, str],
    *,
    status: str = "200 OK",
    etags: Mapping[str, str] | None = None,
    day: datetime | None = None,
) -> Path:
    """Write `pages` (URL -> HTML, or XML), all with this status and some with an ETag, and return `path`. They are from
    `day`, else from now: of two files the one that is written later is the later state of the site."""
    date = f"{day or datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, html in pages.items():
            kind = "application/xml" if html.startswith("<?xml") else "text/html; charset=utf-8"
            fields = [("Content-Type", kind), *([("ETag", etags[url])] if etags and url in etags else [])]
            headers = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    url,
                    "response",
                    payload=BytesIO(html.encode()),
                    http_headers=headers,
                    warc_headers_dict={"WARC-Date": date},
                )
            )
    return path
