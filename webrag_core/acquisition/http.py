"""Acquirer of live pages: one conditional GET through the network gate, and what counts as a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import ada_url

from webrag_core.acquisition.acquirer import AcquiredPage, RefusedAnswerError
from webrag_core.acquisition.gate import MAX_REDIRECTS, VALIDATORS, GateResponse, Inspector, NetworkGate, is_sendable
from webrag_core.acquisition.legal_xml import AKOMA_NTOSO, XML_TYPES, is_akoma_ntoso
from webrag_core.acquisition.office_types import DECLARED, OLE, office_type
from webrag_core.acquisition.politeness import HostQueues, RetryLater
from webrag_core.acquisition.refreshes import refresh_of
from webrag_core.acquisition.robots import Robots, RobotsRules
from webrag_core.acquisition.sessions import check_session, session_ended
from webrag_core.acquisition.sitemaps.models import MAP_SECONDS, FileKind, MapBody, SiteMap
from webrag_core.acquisition.sitemaps.reader import read_site_map
from webrag_core.acquisition.urls import canonicalise
from webrag_core.acquisition.xhtml import XHTML, is_xhtml
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.plugins import FORMATS
from webrag_core.providers.rate_limits import retry_after_s

ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1"
MAP_ACCEPT = "application/xml,text/xml,application/rss+xml,application/atom+xml,text/plain;q=0.9,*/*;q=0.5"

_MARKUP = frozenset({"text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PDF = "application/pdf"
_PAGES = _MARKUP | XML_TYPES | {"text/plain", _PDF, "application/x-pdf", AKOMA_NTOSO} | DECLARED.keys()
_SHOWN = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
_MAX_SHOWN_BYTES = 1_000_000
_NO_MAPS = ("image/", "video/", "audio/", "font/")
_UNSTATED = frozenset({"", "application/octet-stream"})

# What follows is the WHATWG MIME sniffing standard, reduced to telling HTML, PDF and text from everything else.
_SNIFFED_BYTES = 1_445
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROLS = 0.06  # as a share of declared HTML; in random bytes it is a tenth
_BINARY_MARKS = (b"%!PS-Adobe-", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
_WIDE_BOMS = {b"\xfe\xff": "utf-16-be", b"\xff\xfe": "utf-16-le"}
_HTML_START = re.compile(
    r"\s*<(?:!--|(?:!doctype html|html|head|body|title|style|script|iframe|h1|div|font|table|a|b|br|p)[\s>])",
    re.I,
)
_XHTML = re.compile(r"<html[\s>]", re.I)


class HttpAcquirer:
    """Fetches live pages, at the pace that their hosts ask for. Implements `Acquirer`."""

    name = "http"
    frozen = False
    metered = False

    def __init__(
        self,
        gate: NetworkGate,
        *,
        robots: Robots | None = None,
        hosts: HostQueues | None = None,
        map_seconds: float = MAP_SECONDS,
    ) -> None:
        """Without `robots` no robots.txt is obeyed. Redirects are checked too when `gate` is an ObedientGate.

        `map_seconds` limits the time for all discovery files (sitemaps, feeds, inventories) together.
        """
        self._gate = gate
        self._robots = robots
        self._hosts = hosts or HostQueues()
        self._map_seconds = map_seconds

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AcquiredPage:
        """Fetch `url`, following redirects; `etag`/`last_modified` make the request conditional; `headers` go with it.

        A page that is there only to lead on within seconds is a redirect like others, with all checks.

        The page's `content-type` header is the server's, or the sniffed type where the server gave none.

        Raises FetchError for everything that is not a page or a 304 (RATE_LIMITED when the host asks to wait longer
        than the time for a page, ROBOTS_DISALLOWED), InvalidInputError for no URL at all.
        """
        if not url.strip():
            raise InvalidInputError("no URL given")
        sent = {"accept": ACCEPT, **(headers or {})}
        # A validator that cannot be sent back is left out: an unconditional request is always right.
        for name, validator in (("if-none-match", etag), ("if-modified-since", last_modified)):
            if validator is not None and is_sendable(validator):
                sent[name] = validator
        conditional = bool({"if-none-match", "if-modified-since"} & sent.keys())

        def inspect(status: int, answered: Mapping[str, str]) -> None:
            media_type = _media_type(answered)
            _check_status(status, answered, conditional=conditional, shown=_shows_why(answered))
            if status not in (204, 304) and media_type not in _PAGES | _UNSTATED and media_type not in FORMATS:
                raise _unsupported()

        page = _page(await self._ask(url, sent, inspect))
        while (onward := _leads_to(page)) is not None:
            if len(page.redirects) >= MAX_REDIRECTS:
                raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")
            # validators are of the asked origin, as in the gate
            at_home = ada_url.URL(onward).origin == ada_url.URL(page.url).origin
            plain = {name: value for name, value in sent.items() if name not in VALIDATORS}
            landed = _page(await self._ask(onward, sent if at_home else plain, inspect))
            page = replace(
                landed,
                url=page.url,
                bytes_raw=page.bytes_raw + landed.bytes_raw,
                redirects=(*page.redirects, page.final_url, *landed.redirects),
            )
        if len(page.redirects) > MAX_REDIRECTS:
            raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")
        if self._gate.login_of(page.url) is not None:
            if page.status in (401, 403):
                raise session_ended(page.url, f"the site answers with status {page.status}", page.status)
            check_session(page)
        if page.status >= 400:
            raise RefusedAnswerError(page)
        return page

    async def admit(self, url: str) -> str:
        """The canonical URL of `url`, after every check that comes before a request: address, and robots.txt where it
        is obeyed. For a URL that somebody else is going to fetch. Raises FetchError. Sets no time limit."""
        return (await self._gate.admit(url)).url

    async def rules(self, url: str) -> RobotsRules | None:
        """As `ObedientAcquirer` says."""
        return await self._robots.rules(url) if self._robots is not None else None

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says. Every file is asked for as pages are: through the gate, robots.txt and the queues."""
        rules = await self.rules(url)
        return await read_site_map(
            url, self._map_file, html=html, robots=rules, absent=absent, seconds=self._map_seconds, brief=brief
        )

    async def _map_file(self, url: str, kind: FileKind) -> MapBody:
        """Fetch one discovery file of any text type, or the page itself as HTML. Raises FetchError."""

        def inspect(status: int, answered: Mapping[str, str]) -> None:
            _check_status(status, answered, conditional=False)
            media_type = _media_type(answered)
            if media_type not in _MARKUP | _UNSTATED if kind == "page" else media_type.startswith(_NO_MAPS):
                raise FetchError(Reason.UNSUPPORTED_TYPE, f"the answer is of type {media_type[:80]}", status=status)

        answer = await self._ask(url, {"accept": ACCEPT if kind == "page" else MAP_ACCEPT}, inspect)
        return MapBody(answer.final_url, answer.body, _media_type(answer.headers), answer.bytes_raw)

    async def text_file(self, url: str) -> str:
        """Fetch a file of any text type that is no page, such as a list of an archive. Raises FetchError."""
        return (await self._map_file(url, "sitemap")).body.decode("utf-8", "replace")

    async def resource(self, url: str, headers: Mapping[str, str], asked_by: str) -> GateResponse:
        """Fetch what the page at `asked_by`, which is being rendered, asks for: any type, any status.

        Part of the visit of its page, so no crawl delay applies; robots.txt and the limit of requests per host do. A
        log-in goes with it to the page's own origin alone. Raises FetchError, InvalidInputError.
        """
        if self._robots is not None:
            await self._robots.check(url)
        return await self._hosts.run(url, lambda: self._gate.get(url, headers, asked_by=asked_by))

    async def _ask(self, url: str, headers: Mapping[str, str], inspect: Inspector) -> GateResponse:
        """One GET when it is the turn of `url`. Raises FetchError."""
        rules = await self._robots.check(url) if self._robots is not None else None
        try:
            return await self._hosts.run(
                url,
                lambda: self._gate.get(url, headers, inspect=inspect),
                crawl_delay_s=rules.crawl_delay_s if rules is not None else 0.0,
            )
        except FetchError as error:
            if error.status in (401, 403) and self._gate.login_of(canonicalise(url)) is not None:
                raise session_ended(url, f"the site answers with status {error.status}", error.status) from None
            raise

    async def aclose(self) -> None:
        """Nothing to release: the gate holds no connection between fetches."""


def _page(answer: GateResponse) -> AcquiredPage:
    """Raises FetchError for a body that is empty or no text."""
    return AcquiredPage(
        url=answer.url,
        final_url=answer.final_url,
        status=answer.status,
        headers=answer.headers if answer.status == 304 or answer.status >= 400 else _page_headers(answer),
        body=answer.body,
        fetched_at=datetime.now(UTC),
        bytes_raw=answer.bytes_raw,
        redirects=answer.redirects,
    )


def _leads_to(page: AcquiredPage) -> str | None:
    """Where a page redirects by itself."""
    if page.not_modified or page.status >= 400 or page.media_type not in _HTML:
        return None
    result = refresh_of(page.final_url, page.headers, page.body, page.charset)
    return result.url if result is not None and result.is_redirect else None


def sniff(head: bytes) -> str | None:
    """Type of a body by its `head`: text/html, application/xhtml+xml, application/pdf or text/plain; None = no page."""
    head = head[:_SNIFFED_BYTES]
    if head.startswith(b"%PDF-"):
        return _PDF
    encoding = _WIDE_BOMS.get(head[:2])
    if encoding is None:
        head = head.removeprefix(b"\xef\xbb\xbf")
        if head.startswith(_BINARY_MARKS) or _BINARY.search(head):
            return None
    text = head.decode(encoding or "latin-1", errors="replace").removeprefix("\ufeff")
    if _HTML_START.match(text):
        return "text/html"
    if text.lstrip().startswith("<?xml"):
        return "application/xhtml+xml" if _XHTML.search(text) else None
    return "text/plain"


def _is_binary(body: bytes) -> bool:
    """Whether a body that is declared as HTML is none: packed, random, or in wide characters without a mark.

    Single control characters are errors that browsers overlook.
    """
    head = body[:_SNIFFED_BYTES]
    if head[:2] in _WIDE_BOMS:
        return False
    return head.startswith(_BINARY_MARKS) or len(_BINARY.findall(head)) > _MAX_CONTROLS * len(head)


def _check_status(status: int, headers: Mapping[str, str], *, conditional: bool, shown: bool = False) -> None:
    """Raise FetchError for an answer that is no page. `shown`: the body of an error is read, as it may say why."""
    if status in (429, 503) and "retry-after" in headers:
        seconds = retry_after_s(headers["retry-after"], datetime.now(UTC))
        if seconds is not None:
            raise RetryLater(seconds, status=status)
    if status in (404, 410):
        raise FetchError(Reason.NOT_FOUND, "the page does not exist", status=status)
    if shown and status >= 400:
        return
    # 206 is a part nobody asked for; a 304 without a condition says "as before" about nothing.
    if not (200 <= status < 300 and status != 206) and not (status == 304 and conditional):
        raise FetchError(Reason.HTTP_STATUS, f"the server answered with status {status}", status=status)


def _shows_why(headers: Mapping[str, str]) -> bool:
    """Whether the body of an error is a small text, by what its headers claim."""
    claimed = headers.get("content-length", "")
    return _media_type(headers) in _SHOWN and not (claimed.isdecimal() and int(claimed[:12]) > _MAX_SHOWN_BYTES)


def _page_headers(answer: GateResponse) -> Mapping[str, str]:
    """Headers of a page, its type filled in. Raises FetchError for a body that is empty or no text."""
    if not answer.body.removeprefix(b"\xef\xbb\xbf").strip():
        raise FetchError(Reason.EMPTY_PAGE, "the page is empty", status=answer.status)
    declared = _media_type(answer.headers)
    sniffed = sniff(answer.body)
    if sniffed == _PDF or declared.endswith("pdf"):
        return {**answer.headers, "content-type": _PDF}  # whatever it was called; that it is none, its parser tells
    if (office := office_type(answer.body)) is not None:
        return {**answer.headers, "content-type": office}
    if declared in DECLARED:
        if not answer.body.startswith((b"PK", OLE)):  # what is wrong with one, its reader tells
            raise _unsupported()
        return {**answer.headers, "content-type": DECLARED[declared]}
    if declared == AKOMA_NTOSO or (declared in XML_TYPES and is_akoma_ntoso(answer.body)):
        return {**answer.headers, "content-type": AKOMA_NTOSO}
    if declared in FORMATS:  # of another package: its reader tells what is wrong with one
        return answer.headers
    if declared in XML_TYPES:
        if not is_xhtml(answer.body):
            raise _unsupported()
        _, semicolon, parameters = answer.headers["content-type"].partition(";")
        return {**answer.headers, "content-type": f"{XHTML}{semicolon}{parameters}"}
    wide = re.search(r"charset\s*=\s*[\"']?utf-(?:16|32)", answer.headers.get("content-type", ""), re.I)
    if declared in _MARKUP:
        if not wide and _is_binary(answer.body):
            raise _unsupported()
        return answer.headers
    if sniffed is None and not (declared == "text/plain" and wide):
        raise _unsupported()
    # text/plain stays text/plain whatever it looks like: a server that shows HTML source means its source.
    return answer.headers if declared == "text/plain" else {**answer.headers, "content-type": sniffed or ""}


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").split(";", 1)[0].strip().lower()


def _unsupported() -> FetchError:
    return FetchError(Reason.UNSUPPORTED_TYPE, "the answer is neither HTML, text, PDF, an office file nor Akoma Ntoso")
