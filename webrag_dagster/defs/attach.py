"""Job `attach`: keep a site, or a section of it, from the launchpad."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.application.parameters import SourceParameters
from webrag_dagster.corpus import layers
from webrag_dagster.demo import DEMO_URL
from webrag_dagster.launchpad import config_of, given, launchpad_job
from webrag_dagster.resources import CorpusResource

if TYPE_CHECKING:
    from webrag_core.application.upkeep import AttachedSource


AttachConfig = config_of("AttachConfig", SourceParameters, {"url": DEMO_URL})


async def _attach_source(context: dg.OpExecutionContext, config: dg.Config, resource: CorpusResource) -> AttachedSource:
    from webrag_core.application.upkeep import AddSource

    attached = await resource.change(AddSource.of(**given(config)))
    layers.register_partitions(context.instance, [attached.source])
    for warning in attached.warnings:
        context.log.warning(warning)
    context.log.info(f"attached {attached.source}: pages below {attached.place}; sensor refresh_due reads them")
    return attached


attach = launchpad_job(
    "attach",
    AttachConfig,
    _attach_source,
    op="attach_source",
    does="Attach the section that begins at the URL.",
    result="The AttachedSource, for execute_in_process.",
    description=(
        "Keeps a site, or a section of it. Sensor `refresh_due` reads its pages within two minutes, and then as often"
        " as it says. A file below `sources` in the home declares a source instead, with watches and owners."
    ),
)
