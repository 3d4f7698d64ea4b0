"""The brake on a source: new texts that look like a loss of the site are held back instead of replacing good ones.

A notice that a whole site shows cannot be told from a page by any single page. So a page of a refresh that keeps less
than half of its text waits, unwritten, until all known pages were asked; then `judge` looks at all of them. Nothing is
stored in between: a refresh that is killed leaves the old texts, and the pages are asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.corpus.text_change import TextChange, groups_alike
from webrag_core.errors import FetchError, Reason

SAME_TEXT_PAGES = 3
"""Pages with different texts that all get one new text, from which on it is held back."""
SHRINKING_PAGES = 4
"""Pages asked in a refresh, from which on the loss of most of them is held back."""
_MAX_WAITING_BYTES = 64_000_000


class Held(StrEnum):
    """Why a new text is held back. Stored on documents."""

    NEAR_EMPTY = "near_empty"
    REWRITTEN = "rewritten"
    SAME_TEXT = "same_text"
    SHRUNK = "shrunk"

    @property
    def reason(self) -> Reason:
        """The reason of the failure."""
        return Reason.NEAR_EMPTY if self is Held.NEAR_EMPTY else Reason.HELD_BACK

    @property
    def days(self) -> int:
        """Days on which the same text has to be seen before it is taken."""
        return 2 if self is Held.REWRITTEN else 3

    @property
    def of_source(self) -> bool:
        """True when several pages of a source together made it suspicious."""
        return self in (Held.SAME_TEXT, Held.SHRUNK)

    @property
    def words(self) -> str:
        """For people, to stand after "held back: "."""
        return _HELD_WORDS[self]


_HELD_WORDS = {
    Held.NEAR_EMPTY: "the page shrank drastically",
    Held.REWRITTEN: "neither title nor headings nor half of the words of the page are left",
    Held.SAME_TEXT: "several pages show one new text",
    Held.SHRUNK: "most pages of the source lost more than half of their words",
}


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """A page of a refresh that waits for the verdict. `answer` is dropped where too many wait: it is asked again."""

    change: TextChange
    started: datetime
    answer: tuple[AcquiredPage, ConvertedPage] | None


class HeldBackError(FetchError):
    """A new text does not replace the stored one. `held` is None while the page waits for the verdict."""

    def __init__(self, held: Held | None, change: TextChange, *, status: int) -> None:
        reason = Reason.HELD_BACK if held is None else held.reason
        super().__init__(reason, "not decided yet" if held is None else held.words, status=status)
        self.held = held
        self.change = change


def held_alone(change: TextChange) -> Held | None:
    """Why one page's new text is held back, whatever other pages show; None when it is taken."""
    if change.empties:
        return Held.NEAR_EMPTY
    return Held.REWRITTEN if change.rewrites else None


def judge(changes: Mapping[str, TextChange], requests: int) -> dict[str, Held]:
    """Return the pages whose new texts are held back, by URL. Pure; linear in the pages.

    `changes` are those that keep less than half of a text, of `requests` pages that answered.
    """
    held = {url: alone for url, change in changes.items() if (alone := held_alone(change)) is not None}
    losing = [url for url, change in changes.items() if change.loses]
    if requests >= SHRINKING_PAGES and 2 * len(losing) > requests:
        held |= dict.fromkeys(losing, Held.SHRUNK)
    urls = list(changes)
    for group in groups_alike([changes[url].new_sketch for url in urls]):
        before = [changes[urls[position]].old_sketch for position in group]
        if len(group) >= SAME_TEXT_PAGES and len(groups_alike(before)) >= SAME_TEXT_PAGES:
            held |= {urls[position]: Held.SAME_TEXT for position in group}
    return held


@dataclass(slots=True)
class Brake:
    """The pages of one refresh that wait, and the verdict. With `accept` every new text is taken at once."""

    accept: bool = False
    waiting: dict[str, WaitingPage] = field(default_factory=dict)
    _verdict: dict[str, Held] | None = None
    _bytes: int = 0

    @property
    def is_open(self) -> bool:
        """True while pages may still wait."""
        return self._verdict is None and not self.accept

    def wait(self, url: str, change: TextChange, started: datetime, page: AcquiredPage, new: ConvertedPage) -> None:
        """Let the page asked for at `url` wait."""
        self._bytes += len(page.body) + len(new.markdown)
        kept = (page, new) if self._bytes <= _MAX_WAITING_BYTES else None
        self.waiting[url] = WaitingPage(change, started, kept)

    def decide(self, requests: int) -> list[str]:
        """Give the verdict on the pages that wait; return their URLs. `requests` counts all pages that answered."""
        changes = {url: page.change for url, page in self.waiting.items()}
        self._verdict = judge(changes, requests)
        return list(changes)

    def decided(self, url: str) -> Held | None:
        """Why the page's new text is held back; None when it is taken, or did not wait."""
        return (self._verdict or {}).get(url)


def held_warnings(source: str, held: Iterable[Held]) -> list[str]:
    """What a refresh says of the texts that it holds back, one line for each kind."""
    way_out = f"after {Held.SHRUNK.days} days of the same text, or at once with `webrag refresh {source} --accept`"
    return [
        f"{count} new {'text is' if count == 1 else 'texts are'} held back: {kind.words}; taken {way_out}"
        for kind, count in sorted(Counter(held).items())
        if kind.of_source
    ]
