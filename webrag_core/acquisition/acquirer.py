"""What every acquirer delivers: one page's bytes, with where they came from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.errors import FetchError, Reason
from webrag_core.result_warnings import Caution

if TYPE_CHECKING:  # it brings the client of HTTP along
    from webrag_core.acquisition.robots import RobotsRules

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AcquiredPage:
    """One HTTP answer, decoded (content-encoding removed), status 200-299 or 304 (an error in `RefusedAnswerError`).

    `url` is the canonical URL asked for, `final_url` the canonical URL that answered, `redirects` the canonical
    URLs passed on the way (asked URL first, final URL not included). Header names are lower case.
    `fetched_at` is the true time of the copy, also when it came out of somebody's cache; `asked_at`, of an archive, is
    when it was asked for a copy from then (None = `fetched_at`). `acquirer` names who
    fetched it when that is not the acquirer that was asked; `warnings` say what was not as it should be.
    `all_text`: everything that the page shows is wanted, not its content alone. `archive_url` is where a web archive
    shows this copy to people.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: datetime
    bytes_raw: int
    redirects: tuple[str, ...] = field(default=())
    acquirer: str | None = None
    warnings: tuple[Caution, ...] = ()
    asked_at: datetime | None = None
    all_text: bool = False
    archive_url: str | None = None

    @property
    def checked_at(self) -> datetime:
        """When the page was last looked at."""
        return self.asked_at or self.fetched_at

    @property
    def not_modified(self) -> bool:
        """True for a 304 answer to a conditional request; `body` is then empty."""
        return self.status == 304

    @property
    def media_type(self) -> str:
        """Media type of the answer in lower case, without parameters; empty when none was sent."""
        return self.headers.get("content-type", "").split(";", 1)[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """Charset that the HTTP header names; None when it names none."""
        match = _CHARSET.search(self.headers.get("content-type", ""))
        return match.group(1) if match else None


class RefusedAnswerError(FetchError):
    """The server answered with an error, HTTP_STATUS. `page` is what it showed: it may tell a wall from a defect."""

    def __init__(self, page: AcquiredPage) -> None:
        super().__init__(Reason.HTTP_STATUS, f"the server answered with status {page.status}", status=page.status)
        self.page = page


@runtime_checkable
class Acquirer(Protocol):
    """Fetches one page. Implementations: `http` (live, through the network gate), `warc` (frozen site), and the plugins
    of the group `webrag.acquirers`, such as `firecrawl` and `browser` (renders).

    `frozen` = it serves a snapshot without a network, and the same of it each time; `metered` = every page costs money.
    """

    name: str
    frozen: bool
    metered: bool

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """Fetch `url`, following redirects; `etag`/`last_modified` make the request conditional.

        Raises FetchError for everything that is not a page or a 304, InvalidInputError for no URL at all.
        """
        ...

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """What the site says about its pages: those of the host of `url`, from its sitemaps, feeds, inventories and
        search index.

        `html` is the page at `url` where the caller has it; it is requested otherwise. Files in `absent` are requested
        only when another file of the site names them. `brief`: at most six files, none that is not named. A site
        without a map gives an empty one. Raises FetchError(INVALID_URL) and nothing else: what went wrong is in the
        map's files and warnings.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and files."""
        ...


FETCHED_DIRECTLY = "fetched directly instead"
"""End of the warning of a page that came another way than by the acquirer that was asked."""


@runtime_checkable
class LimitedAcquirer(Protocol):
    """An acquirer behind a limit of requests. `limited`: it was told a short time ago to ask for less."""

    limited: bool


@runtime_checkable
class ObedientAcquirer(Protocol):
    """An acquirer that obeys robots.txt, and can say before a fetch what it allows."""

    async def rules(self, url: str) -> RobotsRules | None:
        """The rules of the origin of `url`; None where none are obeyed. Raises FetchError(INVALID_URL)."""
        ...


@runtime_checkable
class BatchAcquirer(Protocol):
    """An acquirer that gets many pages by one request."""

    at_a_time: int

    def announced(self, urls: Sequence[str]) -> AbstractAsyncContextManager[None]:
        """Within the block `fetch` of one of these URLs, at most `at_a_time`, gives what one request for all brings."""
        ...
