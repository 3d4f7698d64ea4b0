"""Retention of Dagster's own events: Dagster keeps them for ever, and every page of the UI reads past them.

Two ages. Log rows of a finished run (steps, engine, messages) go after `log_days`; what the run did to assets, how it
started, failed and ended stays. Asset events older than `asset_days` go as well, except the newest of each kind per
asset and partition: they hold the data versions by which Dagster knows what is up to date, and a plot's last point.

Dagster has no public call for this, so its tables are addressed directly, through its own definitions of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable as Checks
from dagster._core.storage.event_log.schema import AssetEventTagsTable as Tags
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable as Events
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from sqlalchemy import ColumnElement, Select, delete, func, or_, select

from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from sqlalchemy import Connection

_FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_CURSOR = "webrag/retention/log_rows_before"
_AT_ONCE = 100

_OF_ASSETS = (
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_OBSERVATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_FAILED_TO_MATERIALIZE,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED,
    dg.DagsterEventType.FRESHNESS_STATE_CHANGE,
)
_OF_THE_RUN = (
    dg.DagsterEventType.RUN_START,
    dg.DagsterEventType.RUN_SUCCESS,
    dg.DagsterEventType.RUN_FAILURE,
    dg.DagsterEventType.RUN_CANCELED,
    dg.DagsterEventType.STEP_FAILURE,
)


@dataclass(frozen=True, slots=True)
class Pruned:
    """Rows that went."""

    runs: int
    log_rows: int
    asset_rows: int
    check_rows: int


def prune(instance: dg.DagsterInstance, *, now: datetime, log_days: int, asset_days: int) -> Pruned:
    """Delete what is older than the two ages, in days before `now` (aware). May be interrupted and repeated.

    Raises InvalidInputError for ages below one day, or a storage that is not made of SQL tables.
    """
    if min(log_days, asset_days) < 1:
        raise InvalidInputError("events of the last day are never deleted: ages are at least 1 day")
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        raise InvalidInputError(f"events are kept in {type(storage).__name__}, which this job does not know")
    runs = log_rows = 0
    before = now - timedelta(days=log_days)
    since = instance.run_storage.get_cursor_values({_CURSOR}).get(_CURSOR)
    for run_id in _finished(instance, datetime.fromisoformat(since) if since else None, before):
        with storage.run_connection(run_id) as connection:
            log_rows += _deleted(connection, Events.c.run_id == run_id, _is_log_row())
        runs += 1
    instance.run_storage.set_cursor_values({_CURSOR: before.isoformat()})
    until = (now - timedelta(days=asset_days)).replace(tzinfo=None)
    with storage.index_connection() as connection:
        asset_rows = _deleted(connection, Events.c.timestamp < until, _is_of_an_asset(), Events.c.id.not_in(_newest()))
        known = select(Events.c.id)
        connection.execute(delete(Tags).where(Tags.c.event_timestamp < until, Tags.c.event_id.not_in(known)))
        latest = select(func.max(Checks.c.id)).group_by(Checks.c.asset_key, Checks.c.check_name, Checks.c.partition)
        old = delete(Checks).where(Checks.c.create_timestamp < until, Checks.c.id.not_in(latest))
        check_rows = int(connection.execute(old).rowcount)
    return Pruned(runs, log_rows, asset_rows, check_rows)


def _finished(instance: dg.DagsterInstance, since: datetime | None, before: datetime) -> Iterator[str]:
    cursor: str | None = None
    chosen = dg.RunsFilter(statuses=_FINISHED, updated_after=since, updated_before=before)
    while ids := instance.get_run_ids(chosen, cursor=cursor, limit=_AT_ONCE):
        yield from ids
        cursor = ids[-1]


def _is_log_row() -> ColumnElement[bool]:
    kept = [kind.value for kind in (*_OF_ASSETS, *_OF_THE_RUN)]
    return or_(Events.c.dagster_event_type.is_(None), Events.c.dagster_event_type.not_in(kept))


def _is_of_an_asset() -> ColumnElement[bool]:
    return Events.c.dagster_event_type.in_([kind.value for kind in _OF_ASSETS])


def _newest() -> Select[tuple[int]]:
    return (
        select(func.max(Events.c.id))
        .where(Events.c.asset_key.is_not(None))
        .group_by(Events.c.asset_key, Events.c.partition, Events.c.dagster_event_type)
    )


def _deleted(connection: Connection, *where: ColumnElement[bool]) -> int:
    return int(connection.execute(delete(Events).where(*where)).rowcount)
