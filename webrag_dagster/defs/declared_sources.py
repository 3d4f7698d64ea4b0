"""Sources and the catalog: sensor `declared_sources` applies the files to the corpus, and stores for the next load
which sources were attached otherwise."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.components import declared_of
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.source_assets import write_attached
from webrag_dagster.defs.alerts import read_names, tell
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.kept_sources import KeptSource


@dg.sensor(
    name="declared_sources",
    minimum_interval_seconds=60,
    default_status=automation.SENSORS,
    description=(
        "Applies the declarations of the YAML files to the corpus' sources and watches. A paused source stays paused; a"
        " source whose file was removed keeps its pages and is detached; one whose file has a mistake stays as it was,"
        " and an alert names the file. Sources that were attached otherwise become assets with the next reload."
    ),
)
def declared_sources(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult:
    """Compare on every tick, since the database may have been replaced. The cursor holds the broken files, and that
    the partitions of earlier versions are taken over, which is done once: a person may delete them."""
    from webrag_core.corpus.declared import Applied, Declaration, apply_declarations
    from webrag_core.corpus.kept_sources import kept_sources
    from webrag_core.corpus.sources import Source, keys_of, list_sources, split_key
    from webrag_core.store.database import Database
    from webrag_core.watches.store import apply_watches
    from webrag_core.watches.subjects import Subject

    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    declared = declared_of(context.repository_def)
    declarations = [Declaration(**fields) for fields in declared.declarations]
    watched = [(file, Subject.of(**fields)) for file, fields in declared.watches]

    settings = corpus.settings()

    async def work() -> "tuple[Applied, list[Source], list[KeptSource]]":
        async with await Database.open(settings) as database, database.transaction() as connection:
            applied = await apply_declarations(connection, declarations, declared.broken)
            await apply_watches(connection, watched, declared.broken)
            kept = await kept_sources(connection, timedelta(days=settings.webrag_revisit_days))
            return applied, await list_sources(connection), kept

    applied, sources, kept = run(work())
    _store_attached(context, settings.webrag_home, kept)
    paused = {source.key for source in sources if source.paused}
    keys = keys_of((declared.key, declared.shards) for declared in declarations)
    # an operator who paused a source may have deleted its partition: it stays so until the source is resumed
    layers.register_partitions(context.instance, (key for key in keys if split_key(key)[0] not in paused))
    alerted, is_taken_over = _read_cursor(context.cursor)
    known_keys = keys_of((source.key, source.shards) for source in sources)
    taken_over = [] if is_taken_over else layers.take_over_partitions(context.instance, known_keys)
    existing = {source.key for source in sources}
    hosts = {source.host for source in sources}
    partitions = str(layers.SOURCES.name)
    for key in set(context.instance.get_dynamic_partitions(partitions)).difference(known_keys):
        # the source has another number of parts now, or the section is no source any more; other names are not ours
        name = split_key(key)[0]
        if name in existing or ("/" in name and name.partition("/")[0] in hosts):
            context.instance.delete_dynamic_partition(partitions, key)
    for what, which in (
        ("added", applied.added),
        ("changed", applied.changed),
        ("dropped", applied.dropped),
        ("partitions taken over", taken_over),
    ):
        if which:
            context.log.info(f"{what}: {', '.join(which)}")
    _tell_broken(context, corpus, declared.broken, alerted)
    mistakes = "".join(f"; {file} has a mistake: {reason}" for file, reason in sorted(declared.broken.items()))
    return dg.SensorResult(
        skip_reason=f"{len(declarations)} sources are declared;"
        f" {len(applied.added)} added, {len(applied.changed)} changed, {len(applied.dropped)} dropped{mistakes}",
        cursor=json.dumps({"broken": sorted(declared.broken), "partitions": layers.SOURCES.name}),
    )


def _store_attached(context: dg.SensorEvaluationContext, home: Path, kept: "Sequence[KeptSource]") -> None:
    """For the next load of the code location. Alerts do not need it, so that a home that is full only warns."""
    try:
        if write_attached(home, kept):
            context.log.info("other sources are attached: reload the code location to see their assets")
    except OSError as error:
        context.log.warning(f"the assets of attached sources stay as they are: {error}")


def _read_cursor(cursor: str | None) -> tuple[frozenset[str], bool]:
    """Broken files, and whether the partitions are taken over. Cursors of earlier versions hold the files alone."""
    try:
        fields = json.loads(cursor or "[]")
        return frozenset(map(str, fields["broken"])), fields["partitions"] == layers.SOURCES.name
    except (ValueError, TypeError, KeyError):
        return read_names(cursor), False


def _tell_broken(
    context: dg.SensorEvaluationContext, corpus: CorpusResource, broken: Mapping[str, str], alerted: frozenset[str]
) -> None:
    """Tell of files that have a mistake since the last tick, and of those that have none any more."""
    settings = corpus.settings()
    for kind, files, what in (
        ("source_broken", sorted(broken.keys() - alerted), "has a mistake"),
        ("recovered", sorted(alerted - broken.keys()), "has no mistake any more"),
    ):
        if files and settings.alerts_somewhere:
            name = files[0] if len(files) == 1 else f"{len(files)} source files:"
            tell(context, settings, kind, f"WebRAG: {name} {what}", "\n".join(files))
