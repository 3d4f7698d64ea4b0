"""The words of a message about watches. Words of pages stand in lines of their own, behind a sign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from webrag_core.page_text import one_line
from webrag_core.providers.alerts import Alert
from webrag_core.readable import counted
from webrag_core.watches.differences import words_of
from webrag_core.watches.models import Event, GivenAnswer, News, QuoteChange

KINDS: dict[Event, str] = {"back": "watch_recovered"}
"""Kind of the alert; `watch_changed` for all other events."""
_EVENTS: dict[Event, str] = {
    "changed": "changed",
    "gone": "is gone",
    "back": "is there again",
    "quotes": "has the same answer, but quotes of it no longer stand",
    "answer": "is answered otherwise",
}
_STATES = {"changed": "no longer stands", "gone": "its page is gone", "broken": "is damaged"}
_LONGEST, _MOST = 600, 10
_CALL = re.compile(r"@(?=\w)|<(?=[!@#/a-z])", re.IGNORECASE)
"""What chat services read as a call to people, or as markup, when a page says it."""
_BROKEN = "\u2060"


@dataclass(frozen=True, slots=True)
class WatchAlert(Alert):
    """An alert with its news as data: there the words of pages stand letter for letter."""

    details: list[dict[str, Any]] = field(default_factory=list)


def alert_of(news: Sequence[News]) -> WatchAlert:
    """One message about this news, at least one piece."""
    first = news[0]
    kind = KINDS.get(first.event, "watch_changed") if len({piece.event for piece in news}) == 1 else "watch_changed"
    title = headline(first) if len(news) == 1 else f"{len(news)} watches have news"
    text = "\n\n".join("\n".join(lines_of(piece, titled=len(news) > 1)) for piece in news)
    return WatchAlert(kind, f"WebRAG: {title}", text, [piece.model_dump(mode="json") for piece in news])


def headline(news: News) -> str:
    """What happened, in one line."""
    return f"{_page_words(news.watch.subject)} {_EVENTS[news.event]}"


def lines_of(news: News, *, titled: bool = False) -> Iterator[str]:
    """The news in lines: the difference, the quotes side by side, and the answers that rest on them."""
    if titled:
        yield headline(news)
    yield f"watch: {news.watch.watch_id}"
    if news.watch.url is not None:
        yield f"page: {news.watch.url}"
    if news.note:
        yield f"note: {news.note}"
    heading: list[str] = []
    for change in news.differences[:_MOST]:
        if change.heading_path and change.heading_path != heading:
            heading = change.heading_path
            yield f"under {_page_words(' > '.join(heading))}:"
        yield from _sides(change.before, change.after)
    yield from _left(len(news.differences), "passage")
    if news.before is not None and news.after is not None and news.event == "answer":
        yield from _answers(news.before, news.after)
    for quote in news.quotes[:_MOST]:
        yield f"quote {quote.number} of answer {quote.answer_id} {_state(quote)}:"
        yield from _sides(words_of(quote.before), words_of(quote.after or "") if news.event != "back" else None)
    yield from _left(len(news.quotes), "quote")
    if news.answers:
        yield "answers that rest on it: " + ", ".join(
            f"{answer.answer_id} “{_page_words(answer.question)}”" for answer in news.answers[:_MOST]
        )
        yield from _left(len(news.answers), "answer")


def _answers(before: GivenAnswer, after: GivenAnswer) -> Iterator[str]:
    for when, given in (("before", before), ("now", after)):
        number = "" if given.answer_id is None else f"answer {given.answer_id}, "
        yield f"{when}, {number}{given.status.replace('_', ' ')}:"
        sign = "-" if when == "before" else "+"
        yield from (f"{sign} {_page_words(sentence)}" for sentence in given.sentences[:_MOST])
        yield from _left(len(given.sentences), "sentence")


def _state(quote: QuoteChange) -> str:
    return _STATES.get(quote.state, "stands")


def _sides(before: str | None, after: str | None) -> Iterator[str]:
    if before:
        yield f"- {_page_words(before)}"
    if after:
        yield f"+ {_page_words(after)}"


def _left(number: int, what: str) -> Iterator[str]:
    if number > _MOST:
        yield f"and {counted(number - _MOST, f'more {what}')}"


def _page_words(text: str) -> str:
    """Words of a page or a question in one line, cut where they are long; nobody is called by them."""
    line = one_line(text)
    cut = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _CALL.sub(lambda match: match[0] + _BROKEN, cut)
