"""Firecrawl's replies in our words: a scraped page, and why there is none.

Parses what the SDK gives and, where the SDK's own models refuse a reply, the JSON itself. No real Firecrawl was ever
called; the shapes are those of its documentation and of the SDK's code.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import httpx
from pydantic import BaseModel

from webrag_core.acquisition.dates import parse_date
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, Reason
from webrag_core.providers.rate_limits import retry_after_s
from webrag_core.providers.retry import Failure

_HREF = re.compile(r"""href\s*=\s*["']([^"'>]*)["']""", re.IGNORECASE)
_END = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)  # the parser drops what comes after them
_HINTS = {
    400: "it refused the request",
    401: "check FIRECRAWL_API_KEY",
    402: "no credits left",
    403: "it does not serve this site, or not with this key",
    404: "check FIRECRAWL_API_URL",
    429: "rate limit",
}
_PAGE_CODES = {
    "SCRAPE_DNS_RESOLUTION_ERROR": (Reason.DNS_FAILURE, "the host name has no address, says Firecrawl"),
    "SCRAPE_SSL_ERROR": (Reason.TLS_FAILURE, "no trusted TLS connection to the host, says Firecrawl"),
}
_CAMEL = {
    "status_code": "statusCode",
    "source_url": "sourceURL",
    "content_type": "contentType",
    "cache_state": "cacheState",
    "cached_at": "cachedAt",
    "published_time": "publishedTime",
    "modified_time": "modifiedTime",
}


class MappedPage(NamedTuple):
    """One page of a list by Firecrawl: canonical URL, title and description."""

    url: str
    title: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class ScrapeFailure(Failure):
    """Failure of a call. `unreadable` = only the SDK's own models refuse the reply."""

    code: Reason = Reason.PROVIDER_FAILED
    unreadable: bool = False

    def error(self) -> FetchError:
        """As an exception. No status: that of the provider is not that of the page."""
        return self.on(FetchError(self.code, self.reason))


@dataclass(frozen=True, slots=True)
class Scraped:
    """One page as Firecrawl delivered it. `metadata` has the SDK's snake_case names, values unchecked."""

    html: str = ""
    markdown: str = ""
    links: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, document: object) -> Scraped | None:
        """From an SDK Document or the JSON of one; None for what is neither."""
        if not isinstance(document, Mapping):
            results = {name: getattr(document, name, None) for name in ("html", "markdown", "links", "metadata")}
        else:
            results = dict(document)
        metadata = results.get("metadata")
        if isinstance(metadata, BaseModel):
            metadata = metadata.model_dump()
        if not isinstance(metadata, Mapping):
            return None
        links = results.get("links")
        return cls(
            html=_text(results.get("html")),
            markdown=_text(results.get("markdown")),
            links=tuple(link for link in links if isinstance(link, str)) if isinstance(links, list) else (),
            metadata={**metadata, **{name: metadata[camel] for name, camel in _CAMEL.items() if camel in metadata}},
        )

    def meta_text(self, name: str) -> str:
        """A text of the metadata, blanks folded; empty when there is none."""
        value = self.metadata.get(name)
        value = value[0] if isinstance(value, list) and value else value
        return " ".join(value.split()) if isinstance(value, str) else ""

    @property
    def status(self) -> int:
        """HTTP status of the page itself; 200 when none was reported."""
        try:
            return int(self.metadata.get("status_code") or 200)
        except (TypeError, ValueError):
            return 200

    def content(self, url: str) -> tuple[str, str]:
        """(media type, text) of what our own conversion is to read, for a page at `url`; blank when there is nothing.

        Firecrawl cuts the head and, with only_main_content, the navigation out of its HTML: title, description,
        language and dates come back as a head, links found elsewhere on the page as a `nav`.
        """
        if not self.html.strip():
            return "text/markdown", self.markdown
        title, language = self.meta_text("title"), self.meta_text("language")
        meta = {
            "description": self.meta_text("description"),
            "article:published_time": self.meta_text("published_time"),
            "article:modified_time": self.meta_text("modified_time"),
        }
        head = "".join(f'<meta name="{name}" content="{html.escape(value)}">' for name, value in meta.items() if value)
        if title:
            head += f"<title>{html.escape(title)}</title>"
        lang = f' lang="{html.escape(language)}"' if language else ""
        known = {_canonical(html.unescape(href), url) for href in _HREF.findall(self.html)}
        links = dict.fromkeys(_canonical(link, url) for link in self.links)
        elsewhere = "".join(f'<a href="{html.escape(link)}"></a> ' for link in links if link and link not in known)
        nav = f"<nav>{elsewhere}</nav>" if elsewhere else ""
        return "text/html", f"<!DOCTYPE html><html{lang}><head>{head}</head>{_END.sub('', self.html)}{nav}"


def copied_at(page: Scraped, now: datetime, max_age_s: float) -> tuple[datetime, str | None]:
    """When the copy was made, and a warning where that is not what was asked for.

    A cached copy of unknown age is taken to be as old as it was allowed to be.
    """
    if page.metadata.get("cache_state") != "hit":
        return now, None
    made = parse_date(page.meta_text("cached_at"))
    if made is None:
        return now - timedelta(seconds=max_age_s), "Firecrawl served a cached copy of unknown age"
    made = min(made, now)
    age = (now - made).total_seconds()
    if age > max_age_s + 60:
        return made, f"Firecrawl served a cached copy {age:.0f} s old although {max_age_s:.0f} s were allowed"
    return made, None


def failure_of(error: BaseException) -> ScrapeFailure:
    """Read an exception of the SDK or of its transport. Repeats no text of the provider: it may hold the key."""
    if isinstance(error, httpx.TimeoutException):
        return ScrapeFailure("Firecrawl did not answer in time", code=Reason.TIMEOUT, transient=True)
    if isinstance(error, (httpx.HTTPError, httpx.InvalidURL)):
        again = isinstance(error, httpx.ConnectError)  # anything later may have been carried out, and billed
        return ScrapeFailure("Firecrawl cannot be reached (check FIRECRAWL_API_URL)", again=again, transient=True)
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return ScrapeFailure("Firecrawl answered something that is no reply of its API")
    headers = getattr(getattr(error, "response", None), "headers", {})
    return status_failure(status, getattr(error, "code", None), headers)


def status_failure(status: int, code: object, headers: Mapping[str, str]) -> ScrapeFailure:
    """Read an error reply: HTTP status of the provider, and the code in its body."""
    if isinstance(code, str) and code in _PAGE_CODES:
        reason, message = _PAGE_CODES[code]
        return ScrapeFailure(message, code=reason)
    if status == 408 or code == "SCRAPE_TIMEOUT":
        return ScrapeFailure("Firecrawl did not get the page in time", code=Reason.TIMEOUT)
    if status < 400:
        return ScrapeFailure("Firecrawl could not get the page")
    hint = f" ({_HINTS[status]})" if status in _HINTS else ""
    reason = Reason.RATE_LIMITED if status == 429 else Reason.PROVIDER_FAILED
    again = status == 429 or status >= 500
    header = headers.get("retry-after")
    wait = retry_after_s(header, datetime.now(UTC)) if header else None
    return ScrapeFailure(f"Firecrawl: HTTP {status}{hint}", again, wait, status, code=reason, transient=again)


def _canonical(href: str, base: str) -> str | None:
    try:
        return canonicalise(href, base)
    except FetchError:  # no link to a page
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
