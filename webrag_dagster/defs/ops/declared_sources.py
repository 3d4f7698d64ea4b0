"""Sensor `declared_sources`: apply the YAML declarations to the corpus."""

import dagster as dg

from webrag_dagster import partitions
from webrag_dagster.components.source import declarations_of
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.sensor(
    name="declared_sources",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Applies the declarations of the YAML files to the corpus' sources. A paused source stays paused; a source"
        " whose file was removed keeps its pages and is detached."
    ),
)
def declared_sources(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SkipReason:
    """Compare on every tick, since the database may have been replaced."""
    from webrag_core.corpus.declared import Applied, Declaration, apply_declarations
    from webrag_core.corpus.sources import Source, keys_of, list_sources, split_key
    from webrag_core.store.database import Database

    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    declarations = [Declaration(**fields) for fields in declarations_of(context.repository_def)]

    async def work() -> tuple[Applied, list[Source]]:
        async with await Database.open(corpus.settings()) as database, database.transaction() as connection:
            applied = await apply_declarations(connection, declarations)
            return applied, await list_sources(connection)

    applied, sources = run(work())
    paused = {source.key for source in sources if source.paused}
    keys = keys_of((declared.key, declared.shards) for declared in declarations)
    # an operator who paused a source may have deleted its partition: it stays so until the source is resumed
    partitions.register(context.instance, (key for key in keys if split_key(key)[0] not in paused))
    existing = {source.key for source in sources}
    for key in set(context.instance.get_dynamic_partitions("source")).difference(
        keys_of((source.key, source.shards) for source in sources)
    ):
        # the source has another number of parts now, or the section is no source any more
        if split_key(key)[0] in existing or "/" in key:
            context.instance.delete_dynamic_partition("source", key)
    for what, which in (("added", applied.added), ("changed", applied.changed), ("dropped", applied.dropped)):
        if which:
            context.log.info(f"{what}: {', '.join(which)}")
    return dg.SkipReason(
        f"{len(declarations)} sources are declared;"
        f" {len(applied.added)} added, {len(applied.changed)} changed, {len(applied.dropped)} dropped"
    )
