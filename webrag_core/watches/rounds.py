"""A round over the watches that are due: each is compared, and what is new is told once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from webrag_core.answering.manager import Manager
from webrag_core.config.alerts import AlertSettings
from webrag_core.errors import WebragError
from webrag_core.providers.alerts import Alert, send_alert
from webrag_core.retrieval.models import Contract
from webrag_core.store.database import Database
from webrag_core.watches.messages import alert_of
from webrag_core.watches.models import News
from webrag_core.watches.questions import NotCompared, discard, look_at_question, without_number
from webrag_core.watches.store import Compared, Due, count_watches, due_watches, move_on, postpone
from webrag_core.watches.texts import Look, look_at_text

logger = logging.getLogger(__name__)

_AGAIN = timedelta(hours=1)
"""After which a question that could not be answered is put again."""


class WatchRound(Contract):
    """What a round brought: how many `watches` there are, how many were `compared` because a page of theirs has a new
    text, the `news`, and what went wrong, a line each. `sent`: every
    piece of news went to an address of the settings; False also where none is set."""

    watches: int
    compared: int
    news: list[News]
    sent: bool
    problems: list[str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """News that is to be told, and what its watch is compared with before and after."""

    watch_id: int
    old: Compared
    new: Compared
    news: News


async def make_round(
    database: Database,
    manager: Manager,
    settings: AlertSettings,
    *,
    only: Collection[int] | None = None,
    dry_run: bool = False,
) -> WatchRound:
    """Look at the watches of `only` (None = all) that are due, and send what is new. What could not be sent anywhere is
    told by the next round; a watch moves on before its message goes, so that nothing is told twice. With `dry_run` the
    news is returned, nothing is sent, and no watch moves on."""
    async with database.connection() as connection:
        due = await due_watches(connection, only)
        watches = await count_watches(connection) if only is None else len(only)
    problems: list[str] = []
    pieces: list[_Piece] = []
    for watch in due:
        look = await _look(database, manager, watch, problems)
        if look is None:
            continue
        sent_at = None if look.news is None or dry_run else datetime.now(UTC)
        new = look.compared if sent_at is None else replace(look.compared, sent_at=sent_at)
        moved = not dry_run and await _move(database, watch, new)
        if not moved:
            await discard(database, look, watch)
        if look.news is not None and (moved or dry_run):
            news = look.news if moved else without_number(look.news)
            pieces.append(_Piece(watch.watch.watch_id, watch.compared, new, news))
    sent = not dry_run and settings.alerts_somewhere
    if sent:
        daily = [piece for piece in pieces if piece.news.watch.pace == "daily"]
        messages = [[piece] for piece in pieces if piece.news.watch.pace == "at_once"] + ([daily] if daily else [])
        for message in messages:
            sent = await _send(database, settings, message, problems) and sent
    return WatchRound(
        watches=watches, compared=len(due), news=[piece.news for piece in pieces], sent=sent, problems=problems
    )


async def _look(database: Database, manager: Manager, due: Due, problems: list[str]) -> Look | None:
    """One look; None where it could not be made, which is then among the problems."""
    try:
        if due.watch.kind != "question":
            return await look_at_text(database, due)
        look = await look_at_question(database, manager, due)
    except WebragError as error:
        look = NotCompared(error.message)
    if isinstance(look, Look):
        return look
    async with database.connection() as connection:
        await postpone(connection, due.watch.watch_id, _AGAIN)
    problems.append(f"watch {due.watch.watch_id}: {look.reason}")
    logger.warning("%s", problems[-1])
    return None


async def _move(database: Database, due: Due, new: Compared) -> bool:
    async with database.connection() as connection:
        return await move_on(connection, due.watch.watch_id, due.compared, new)


async def _send(database: Database, settings: AlertSettings, message: Sequence[_Piece], problems: list[str]) -> bool:
    """Send one message. Where it reached nobody its watches go back, and the next round tells of them."""
    alert = alert_of([piece.news for piece in message])
    failed = await _deliver(settings, alert)
    problems += [f"a message could not be sent: {problem}" for problem in failed]
    addresses = (settings.alert_webhook is not None) + bool(settings.alert_email)
    if len(failed) < addresses or settings.alert_log:
        return not failed
    async with database.connection() as connection:
        for piece in message:
            await move_on(connection, piece.watch_id, piece.new, piece.old)
    return False


async def _deliver(settings: AlertSettings, alert: Alert) -> list[str]:
    """What went wrong, a line for each address. Goes on to its end when the round is cancelled: a message on its way
    may have arrived."""
    if settings.alert_log:
        logger.warning("%s\n%s", alert.title, alert.text)
    return await asyncio.shield(send_alert(settings, alert))
