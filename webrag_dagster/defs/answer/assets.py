"""Assets written by the `answer` job, for the lineage."""

from __future__ import annotations

import dagster as dg

answer_rounds = dg.AssetSpec(
    key="answer_rounds",
    deps=["embeddings", "link_candidates"],
    group_name="answers",
    kinds={"python"},
    description=(
        "One observation per round of the loop: scores, decision, rule and reason, and all rounds of its question so"
        " far. Written by job `answer`."
    ),
)

answers = dg.AssetSpec(
    key="answers",
    deps=[answer_rounds],
    group_name="answers",
    kinds={"markdown"},
    description=(
        "Verbatim evidence for a question, and why the search stopped. Launch job `answer` to get one; sensor"
        " `answers_elsewhere` adds those that the command line, MCP clients and the library asked for."
    ),
)
