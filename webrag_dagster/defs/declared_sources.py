"""The sources that files declare: sensor `declared_sources` applies the files to the corpus, sensor `source_refreshes`
reports the refreshes as materializations of their assets."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.components import declared_assets, declared_of
from webrag_dagster.corpus import layers
from webrag_dagster.defs.alerts import read_names, tell
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.refresh_store import LastRefresh

_STAMP = "%Y-%m-%d %H:%M UTC"


@dg.sensor(
    name="declared_sources",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Applies the declarations of the YAML files to the corpus' sources and watches. A paused source stays paused; a"
        " source whose file was removed keeps its pages and is detached; one whose file has a mistake stays as it was,"
        " and an alert names the file."
    ),
)
def declared_sources(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult:
    """Compare on every tick, since the database may have been replaced. The cursor holds the broken files."""
    from webrag_core.corpus.declared import Applied, Declaration, apply_declarations
    from webrag_core.corpus.sources import Source, keys_of, list_sources, split_key
    from webrag_core.store.database import Database
    from webrag_core.watches.store import apply_watches
    from webrag_core.watches.subjects import Subject

    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    declared = declared_of(context.repository_def)
    declarations = [Declaration(**fields) for fields in declared.declarations]
    watched = [(file, Subject.of(**fields)) for file, fields in declared.watches]

    async def work() -> tuple[Applied, list[Source]]:
        async with await Database.open(corpus.settings()) as database, database.transaction() as connection:
            applied = await apply_declarations(connection, declarations, declared.broken)
            await apply_watches(connection, watched, declared.broken)
            return applied, await list_sources(connection)

    applied, sources = run(work())
    paused = {source.key for source in sources if source.paused}
    keys = keys_of((declared.key, declared.shards) for declared in declarations)
    # an operator who paused a source may have deleted its partition: it stays so until the source is resumed
    layers.register_partitions(context.instance, (key for key in keys if split_key(key)[0] not in paused))
    existing = {source.key for source in sources}
    hosts = {source.host for source in sources}
    for key in set(context.instance.get_dynamic_partitions("source")).difference(
        keys_of((source.key, source.shards) for source in sources)
    ):
        # the source has another number of parts now, or the section is no source any more; other names are not ours
        name = split_key(key)[0]
        if name in existing or ("/" in name and name.partition("/")[0] in hosts):
            context.instance.delete_dynamic_partition("source", key)
    for what, which in (("added", applied.added), ("changed", applied.changed), ("dropped", applied.dropped)):
        if which:
            context.log.info(f"{what}: {', '.join(which)}")
    _tell_broken(context, corpus, declared.broken)
    mistakes = "".join(f"; {file} has a mistake: {reason}" for file, reason in sorted(declared.broken.items()))
    return dg.SensorResult(
        skip_reason=f"{len(declarations)} sources are declared;"
        f" {len(applied.added)} added, {len(applied.changed)} changed, {len(applied.dropped)} dropped{mistakes}",
        cursor=json.dumps(sorted(declared.broken)),
    )


def _tell_broken(context: dg.SensorEvaluationContext, corpus: CorpusResource, broken: Mapping[str, str]) -> None:
    """Tell of files that have a mistake since the last tick, and of those that have none any more."""
    settings, alerted = corpus.settings(), read_names(context.cursor)
    for kind, files, what in (
        ("source_broken", sorted(broken.keys() - alerted), "has a mistake"),
        ("recovered", sorted(alerted - broken.keys()), "has no mistake any more"),
    ):
        if files and settings.alerts_somewhere:
            name = files[0] if len(files) == 1 else f"{len(files)} source files:"
            tell(context, settings, kind, f"WebRAG: {name} {what}", "\n".join(files))


@dg.sensor(
    name="source_refreshes",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Reports the newest refresh of each source that a file declares, whoever started it (a schedule, a person, the"
        " command line), so that the source's freshness is known. One in which the site did not answer is none."
    ),
)
def source_refreshes(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Report what is newer than the cursor, which holds the number of the last reported refresh by source."""
    from webrag_core.corpus.refresh_store import last_refreshes
    from webrag_core.store.database import Database

    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    assets = declared_assets(context.repository_def)
    if not assets:
        return dg.SkipReason("no source is declared")

    async def work() -> "list[LastRefresh]":
        async with await Database.open(corpus.settings()) as database, database.connection() as connection:
            return await last_refreshes(connection, list(assets))

    reported = _read_cursor(context.cursor)
    refreshes = run(work())
    new = [refresh for refresh in refreshes if reported.get(refresh.key) != refresh.id]
    if not new:
        return dg.SkipReason(f"no new refresh of {len(assets)} declared sources")
    return dg.SensorResult(
        asset_events=[_event(*assets[item.key], item) for item in new],
        cursor=json.dumps({refresh.key: refresh.id for refresh in refreshes}),
    )


def _event(key: dg.AssetKey, hours: float | None, last: "LastRefresh") -> dg.AssetMaterialization:
    pause = "paused by the operator" if last.paused else None
    due = None if hours is None else f"{last.ended_at + timedelta(hours=hours):{_STAMP}}"
    return dg.AssetMaterialization(
        asset_key=key,
        description=f"Refreshed {last.ended_at:{_STAMP}}.",
        metadata={
            "refreshed_at": dg.MetadataValue.timestamp(last.ended_at),
            "next_refresh": dg.MetadataValue.text(pause or due or "as the settings say"),
            "last_look": dg.MetadataValue.text(f"{last.watched_at:{_STAMP}}" if last.watched_at else "never"),
            "pages_searchable": dg.MetadataValue.int(last.pages),
            "pages_with_a_new_text": dg.MetadataValue.int(last.fetched),
            "pages_unchanged": dg.MetadataValue.int(last.unchanged),
            "pages_failed": dg.MetadataValue.int(last.failed),
            "pages_not_due": dg.MetadataValue.int(last.not_due),
        },
    )


def _read_cursor(cursor: str | None) -> dict[str, int]:
    """Number of the last reported refresh by source. An unreadable cursor reports each once more."""
    try:
        return {str(key): int(number) for key, number in json.loads(cursor or "{}").items()}
    except (ValueError, AttributeError, TypeError):
        return {}
