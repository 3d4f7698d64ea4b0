"""The work of `answer_scores`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg

from evals.answers.composing import compose_all
from evals.answers.evidence import RecordedEvidence, evidence_of
from evals.answers.quality import hits_of
from evals.answers.quality import report as quality_report
from evals.reliability import Reliability
from evals.report.figures import reliability_diagram
from evals.walks.goldens import cluster_of, load_goldens
from evals.walks.suites import own_suites, sample_goldens
from webrag_core.errors import InvalidInputError
from webrag_dagster.evaluation.scores import number, picture
from webrag_dagster.evaluation.suite import Scored
from webrag_dagster.metadata import table

if TYPE_CHECKING:
    from webrag_core.config import Settings


async def score_answers(context: dg.AssetExecutionContext, settings: Settings, *, items: int) -> Scored:
    """One run over `items` golden questions of each site. Raises InvalidInputError where no frozen site is present."""
    recorded: list[RecordedEvidence] = []
    started = time.perf_counter()
    for suite in own_suites("reporting").values():
        if suite.warc.is_file():
            goldens = sample_goldens(load_goldens(suite.golden), items)
            async for item in evidence_of(suite, goldens, settings):
                recorded.append(item)
                context.log.info(f"{item.golden.id} asked")
    if not recorded:
        raise InvalidInputError("no frozen site to ask is present (they are not part of the installed package)")
    pairs = [(item, composed.chosen()) for item, composed in await compose_all(recorded, read=True)]
    scores = {item.golden.id: hits_of(item, composed) for item, composed in pairs if item.golden.gold_pages}
    report = quality_report(pairs)
    confidence = report["confidence"]
    curve = Reliability(confidence["reliability"], confidence["ece"], None, confidence["questions"])
    diagram = reliability_diagram(curve, stated="confidence", observed="all gold said")
    return Scored(
        metadata={
            "said": number(report["said"]["any"]),
            "highlights": number(report["highlights of 400 words"]["any"]),
            "in_the_evidence": number(report["in the evidence"]["any"]),
            "answered": number(confidence["answered"]),
            "ece": number(confidence["ece"]),
            "calibration": dg.MetadataValue.md(picture(str(diagram), "stated against observed")),
            "questions": dg.MetadataValue.int(len(pairs)),
            "seconds": number(time.perf_counter() - started),
            "item_list": table(
                {"question": item.golden.query, "site": item.suite, **{k: bool(v) for k, v in row.items()}}
                for item, _ in pairs
                if (row := scores.get(item.golden.id)) is not None
            ),
        },
        scores=scores,
        clusters={item.golden.id: cluster_of(item.golden) for item, _ in pairs},
    )
