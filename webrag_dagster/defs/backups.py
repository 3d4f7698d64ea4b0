"""Asset `backups`: the corpus as a file, every night where its schedule is turned on; the latest ones are kept."""

from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.backup.series import SeriesReport


@dg.asset(
    name="backups",
    group_name="corpus",
    kinds={"postgres", "file"},
    owners=["team:corpus"],
    description=(
        "One file of the whole corpus as it is at one moment, which `webrag restore` reads, in BACKUP_FOLDER (unset ="
        " `backups` of the home: set it to another disk). The latest BACKUPS_KEPT files stay. Dagster's own history is"
        " not in it."
    ),
)
def backups(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Write a file, then delete the oldest ones."""

    async def work() -> "SeriesReport":
        from webrag_core.backup.series import add_backup
        from webrag_core.store.database import Database

        settings = corpus.settings()
        async with await Database.open(settings) as database:
            return await add_backup(database, settings)

    report = run(work())
    context.log.info(f"{report.backup.rows} rows in {report.backup.bytes} bytes: {report.backup.file}")
    return dg.MaterializeResult(
        metadata={
            "file": dg.MetadataValue.path(str(report.backup.file)),
            "rows": report.backup.rows,
            "bytes": report.backup.bytes,
            "deleted": len(report.deleted),
        }
    )


backup_job = dg.define_asset_job(
    "back_up",
    selection=[backups],
    executor_def=dg.in_process_executor,
    description="Write a backup of the corpus (asset `backups`).",
)

nightly_backup = dg.ScheduleDefinition(
    name="nightly_backup",
    job=backup_job,
    cron_schedule="20 4 * * *",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Makes a backup every night, before old history is pruned. Turn it on once BACKUP_FOLDER has room.",
)
