"""Asset of the golden queries, for the lineage."""

import dagster as dg

golden_queries = dg.AssetSpec(
    key="golden_queries",
    group_name="evals",
    kinds={"json"},
    owners=["team:webrag"],
    description=(
        "Questions with known answers that come with the code: runs on three WARC snapshots, signal histories for"
        " every rule of the stop policies, and retrieval questions with evidence spans (`evals/golden/`)."
    ),
)
