"""Dagster's records of what was removed from the corpus: runs with their events and logs, ticks, stored outputs.

A record that holds something of it goes whole. Dagster's own interface deletes it; what SQLite leaves behind in its
files goes by its VACUUM.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webrag_core.extras import DAGSTER, is_installed
from webrag_core.feedback.scrub import ClearedRecords
from webrag_dagster.instance import hold, storage_folder, use_instance

if TYPE_CHECKING:
    import dagster as dg

    from webrag_core.config.home import HomeSettings
    from webrag_core.feedback.removed_text import RemovedText

_BATCH = 100
_BUSY_SECONDS = 60.0


class DagsterRecords:
    """The records of the instance that DAGSTER_HOME names, or that lies within the corpus. Raises InvalidInputError
    while `webrag up` runs on it."""

    def __init__(self, settings: HomeSettings) -> None:
        self._folder = settings.webrag_home / "dagster"
        self._storage: Path | None = None
        self._elsewhere: Path | None = None
        self._lock: int | None = None
        if is_installed(DAGSTER) and has_instance(settings):
            is_named = bool(os.environ.get("DAGSTER_HOME"))
            storage = storage_folder(use_instance())
            if not is_named and not storage.resolve().is_relative_to(settings.webrag_home.resolve()):
                self._elsewhere = storage  # of the working directory: its runs may be those of another corpus
                return
            self._storage = storage
            if self._storage.is_dir():
                self._lock = hold(self._storage, 0)

    def clear(self, removed: RemovedText) -> ClearedRecords:
        """Delete every record with something of `removed`, and free the instance. Raises OSError, sqlite3.Error."""
        try:
            return self._clear(removed)
        finally:
            if self._lock is not None:
                os.close(self._lock)

    def _clear(self, removed: RemovedText) -> ClearedRecords:
        cleared = ClearedRecords()
        if self._storage is None:
            if self._elsewhere is not None:
                cleared.not_reached.append(
                    f"Dagster's records in {self._elsewhere}, outside of this corpus: DAGSTER_HOME names their instance"
                )
            elif self._folder.is_dir():
                cleared.not_reached.append(f"Dagster's records in {self._folder}: Dagster is not installed here")
            return cleared
        import dagster as dg

        if not self._storage.is_dir():
            return cleared
        with dg.DagsterInstance.get() as instance:
            runs, checks = _clear_runs(instance, removed)
            cleared.counts = {
                "dagster_runs": runs,
                "dagster_ticks": _clear_ticks(instance, removed),
                "dagster_outputs": _clear_outputs(Path(instance.storage_directory()), removed),
            }
        cleared.not_reached += [f"a result of Dagster's {name}: wipe the asset in its UI" for name in sorted(checks)]
        files = [file for file in self._storage.rglob("*.db") if file.is_file()]
        for file in files:
            _vacuum(file)
        if not files:
            cleared.not_reached.append(
                "dead rows of Dagster's own database, where it is another one than the corpus': run VACUUM FULL there"
            )
        return cleared


def has_instance(settings: HomeSettings) -> bool:
    """Whether there is an instance that `use_instance` would find, so that none is made."""
    if os.environ.get("DAGSTER_HOME"):
        return True
    places = (Path.cwd(), settings.webrag_home, settings.webrag_home / "dagster", Path.cwd() / ".webrag" / "dagster")
    return any((place / "dagster.yaml").is_file() or (place / "history").is_dir() for place in places)


def _clear_runs(instance: dg.DagsterInstance, removed: RemovedText) -> tuple[int, set[str]]:
    """Delete the runs of which configuration, tags, an event or a log has it. Returns their number, and the checks of
    which a result has it: Dagster keeps a copy of those."""
    deleted, checks = 0, set()
    for run in list(_runs(instance)):
        if removed.is_in(_texts_of_run(instance, run)):
            checks |= _checks(instance, run, removed)
            instance.delete_run(run.run_id)
            instance.compute_log_manager.delete_logs(prefix=[run.run_id])
            shutil.rmtree(Path(instance.storage_directory()) / run.run_id, ignore_errors=True)
            deleted += 1
    if deleted:
        _renew_latest(instance)
    return deleted, checks


def _checks(instance: dg.DagsterInstance, run: dg.DagsterRun, removed: RemovedText) -> set[str]:
    import dagster as dg

    names = set()
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        if entry.dagster_event is not None and removed.is_in(_strings(json.loads(dg.serialize_value(entry)))):
            result = entry.dagster_event.asset_check_evaluation_data
            names.add(f"check {result.check_name} of asset {result.asset_key.to_user_string()}")
    return names


def _renew_latest(instance: dg.DagsterInstance) -> None:
    """Dagster keeps a copy of each asset's last materialization, of deleted runs too: the last one that is left is
    reported again over it, and an asset without any goes from its list until it is materialized again."""
    for key in instance.all_asset_keys():
        records = instance.fetch_materializations(key, limit=1).records
        latest = instance.get_latest_materialization_event(key)
        if latest is None or (records and records[0].run_id == latest.run_id):
            continue
        left = records[0].asset_materialization if records else None
        if left is None:
            instance.wipe_assets([key])
        else:
            instance.report_runless_asset_event(left)


def _runs(instance: dg.DagsterInstance) -> Iterator[dg.DagsterRun]:
    cursor: str | None = None
    while runs := instance.get_runs(cursor=cursor, limit=_BATCH):
        yield from runs
        cursor = runs[-1].run_id


def _texts_of_run(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Iterator[str]:
    import dagster as dg

    yield from _strings({"config": run.run_config, "tags": dict(run.tags)})
    manager = instance.compute_log_manager
    for entry in instance.all_logs(run.run_id):
        yield from _strings(json.loads(dg.serialize_value(entry)))
        event = entry.dagster_event
        if event is not None and event.event_type_value == "LOGS_CAPTURED":
            key = manager.build_log_key_for_run(run.run_id, event.logs_captured_data.file_key)
            log = manager.get_log_data(key)
            for content in filter(None, (log.stdout, log.stderr)):
                yield from content.decode("utf-8", "replace").splitlines()


def _clear_ticks(instance: dg.DagsterInstance, removed: RemovedText) -> int:
    """Delete all ticks of each schedule and sensor of which one has it."""
    import dagster as dg

    deleted = 0
    for state in instance.all_instigator_state():
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id)
        if removed.is_in(text for tick in ticks for text in _strings(json.loads(dg.serialize_value(tick.tick_data)))):
            last = max(tick.timestamp for tick in ticks)
            instance.purge_ticks(state.instigator_origin_id, state.selector_id, before=last + 1)
            deleted += len(ticks)
    return deleted


def _clear_outputs(folder: Path, removed: RemovedText) -> int:
    """Delete stored outputs, pickles of any kind of value, of which the readable part has it."""
    deleted = 0
    for file in [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".db"]:
        if removed.is_in([file.read_bytes().decode("utf-8", "replace")]):
            file.unlink()
            deleted += 1
    return deleted


def _strings(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _vacuum(file: Path) -> None:
    """Write a SQLite file anew: what was deleted stays in its free pages, and in its log, until then."""
    with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
