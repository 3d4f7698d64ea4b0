"""Feeds for readers of news: the changes of a source, and the answers whose quotes changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.reach import Reach
from webrag_core.application.reading import ChangedAnswers, LatestChanges
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services
from webrag_core.errors import NotStoredError
from webrag_core.history.changed_answers import ChangedAnswer
from webrag_core.history.models import PageChange
from webrag_core.page_text import visible
from webrag_core.showing.atom import MEDIA_TYPE, FeedEntry, render_feed
from webrag_core.web.login import FEED
from webrag_core.web.paths import comparison_path, history_path, source_path
from webrag_core.web.phrases import counted

_ENTRIES = 50
_FEW = 3  # new pages of an hour that are an entry each
_NAMED = 10
_KINDS = {"new": "New", "changed": "Changed", "gone": "Gone", "back": "Back"}


async def source_feed(request: Request) -> Response:
    """The latest changes of the pages of a source."""
    services: Services = await request.app.state.services()
    database = services.corpus.database
    key = visible(request.path_params["key"])
    try:
        wanted = await LatestChanges.of(source=key, limit=_ENTRIES).within(Reach.of(request.scope), database)
        listed = await wanted.read(database)
    except NotStoredError as error:
        raise RefusedError(Refusal(404, "not_stored", f"There is no source {key}")) from error
    base = _base(request)
    text = render_feed(
        subject=f"source {key}",
        title=f"Changes of {key}",
        link=base + source_path(key),
        feed=f"{base}{source_path(key)}{FEED}",
        entries=entries_of_changes(listed.changes, key, base),
    )
    return _response(request, text)


async def answers_feed(request: Request) -> Response:
    """The answers whose quotes were last found changed."""
    services: Services = await request.app.state.services()
    listed = await ChangedAnswers.of(limit=_ENTRIES).read(services.corpus.database)
    base = _base(request)
    text = render_feed(
        subject="answers",
        title="Answers whose quotes changed",
        link=f"{base}/answers",
        feed=f"{base}/answers{FEED}",
        entries=[_of_answer(answer, base) for answer in listed.answers],
    )
    return _response(request, text)


def entries_of_changes(changes: Sequence[PageChange], key: str, base: str) -> list[FeedEntry]:
    """An entry for each change, the latest first. Many pages that are new within an hour are one: a source is read
    whole at first."""
    together: dict[datetime | int, list[PageChange]] = {}
    for place, change in enumerate(changes):
        hour = change.by.replace(minute=0, second=0, microsecond=0)
        together.setdefault(hour if change.kind == "new" else place, []).append(change)
    entries = []
    for moment, group in together.items():
        if len(group) > _FEW:
            entries.append(_of_new_pages(group, f"new pages of {key} {moment}", base + source_path(key)))
        else:
            entries += [_of_change(change, base) for change in group]
    return sorted(entries, key=lambda entry: entry.updated, reverse=True)


def _of_new_pages(pages: Sequence[PageChange], subject: str, link: str) -> FeedEntry:
    more = " or more" if len(pages) == _ENTRIES else ""
    named = ", ".join(change.title or change.url for change in pages[:_NAMED])
    return FeedEntry(
        subject=subject,
        title=f"{len(pages)}{more} new pages",
        summary=f"{named} and others" if len(pages) > _NAMED else named,
        updated=max(change.by for change in pages),
        link=link,
    )


def _of_change(change: PageChange, base: str) -> FeedEntry:
    before, after = change.from_version, change.to_version
    path, words = history_path(change.url), _KINDS[change.kind]
    summary = f"{words}, seen {change.by:%Y-%m-%d %H:%M} UTC"
    if change.kind == "changed" and before is not None and after is not None:
        path = comparison_path(change.url, before, after)
        summary = f"Version {before} became version {after}, seen {change.by:%Y-%m-%d %H:%M} UTC"
    if change.cause == "extractor":
        summary += "; the same page, read by another extractor"
    return FeedEntry(
        subject=f"change {change.url} {change.by.timestamp():.6f}",
        title=f"{words}: {change.title or change.url}",
        summary=summary,
        updated=change.by,
        link=base + path,
        about=change.url,
    )


def _of_answer(answer: ChangedAnswer, base: str) -> FeedEntry:
    changed = f"{answer.changed} changed" if answer.changed else ""
    gone = f"of {answer.gone} the page is gone" if answer.gone else ""
    return FeedEntry(
        subject=f"answer {answer.answer_id} {answer.started_at.timestamp():.6f}",
        title=answer.question,
        summary=f"Of {counted(answer.quotes, 'quote')} {', '.join(filter(None, (changed, gone)))}",
        updated=answer.found_at,
        link=f"{base}/answers/{answer.answer_id}",
    )


def _base(request: Request) -> str:
    """Scheme and host as the client names them, which the check of hosts has let through."""
    return str(request.base_url).rstrip("/")


def _response(request: Request, text: str) -> Response:
    """The feed, or 304 where the client has the same."""
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    known = ",".join(request.headers.getlist("if-none-match"))
    if known.strip() == "*" or tag in {part.strip().removeprefix("W/") for part in known.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type=MEDIA_TYPE)


ROUTES = [
    Route(f"/sources/{{key:path}}{FEED}", source_feed, methods=["GET"]),
    Route(f"/answers{FEED}", answers_feed, methods=["GET"]),
]
