"""The four corpus assets: one source, materialized again and again while the site changes."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.dagster.corpus_runs import BLACK, GREEN, HOME, KEY, LAYERS, SITE, add, run_job
from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_core.config import load_settings
from webrag_dagster.processes.ui_pages import WithPages


def materialize(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warc: Path, key: str = KEY
) -> dict[str, dg.AssetMaterialization]:
    """All four assets of one source in one run."""
    done = run_job(definitions, instance, warc, key=key)
    assert done.success
    return {name: done.asset_materializations_for_node(name)[0] for name in LAYERS}


def versions(events: dict[str, dg.AssetMaterialization]) -> dict[str, str]:
    """Data version per asset."""
    return {name: (event.tags or {})["dagster/data_version"] for name, event in events.items()}


def number(event: dg.AssetMaterialization, name: str) -> object:
    """One number of the metadata."""
    return event.metadata[name].value


def listed(event: dg.AssetMaterialization) -> list[dict[str, object]]:
    """Rows of the page list."""
    pages = event.metadata["page_list"]
    assert isinstance(pages, dg.TableMetadataValue)
    return [dict(record.data) for record in pages.records]


@pytest.fixture
def site(tmp_path: Path, corpus_environment: str) -> Path:
    """The site on its first day, with all of its pages known."""
    warc = write_site(tmp_path / "first.warc.gz", SITE)
    add(warc, *SITE)
    return warc


@pytest.mark.slow
def test_a_site_that_stays_changes_and_comes_back(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, tmp_path: Path, corpus_environment: str
) -> None:
    """What a refresh does to pages is for tests/corpus/test_refresh.py; here is what of it every asset shows."""
    first = materialize(definitions, instance, site)
    check_that_nothing_was_new(first)

    later = {HOME: SITE[HOME], GREEN: page("Green tea", "Green tea is brewed at seventy degrees, not more.")}
    second = materialize(definitions, instance, write_site(tmp_path / "second.warc.gz", later))
    documents = second["documents"]
    assert {name: number(documents, f"pages_{name}") for name in ("new", "changed", "unchanged", "failed")} == {
        "new": 0,
        "changed": 1,
        "unchanged": 1,
        "failed": 1,
    }
    diffs = documents.metadata["what_changed"].value
    assert isinstance(diffs, str)
    assert diffs.count("### ") == 1
    assert "(negation changed)" in diffs
    assert f"webrag history {GREEN} --diff 1 2 --html diff.html" in diffs
    assert "| `searchable` | `3` | `100.0%` |" in str(documents.metadata["pages_by_state"].value)
    times = str(documents.metadata["when_changed"].value)
    assert times.startswith("![Time line of the pages that changed](data:image/svg+xml;base64,")
    assert times.count(f"| `version 1` | `{GREEN}` |") == times.count(f"| `version 2` | `{GREEN}` |") == 1
    rows = listed(documents)
    assert [(row["page"], row["change"], row["reason"]) for row in rows] == [
        ("/black", "failed", "not_found"),
        ("/green", "changed", None),
        ("/", "unchanged", None),
    ]
    changed = {name for name in LAYERS if versions(first)[name] != versions(second)[name]}
    assert changed == {"documents", "chunks", "embeddings"}
    assert number(second["chunks"], "pages_chunked") == 1
    assert number(second["embeddings"], "pages_became_current") == 1
    with psycopg.connect(corpus_environment) as connection:
        current: dict[str, str] = dict(
            connection.execute("SELECT url_canonical, text FROM contract.v_document WHERE is_current").fetchall()
        )
    assert "seventy" in current[GREEN]
    assert "ninety-five" in current[BLACK], "a page that is gone keeps its last good text"

    back = materialize(definitions, instance, write_site(tmp_path / "back.warc.gz", SITE))
    assert versions(back) == versions(first), "content that comes back has its old data version"
    assert number(back["embeddings"], "texts_embedded") == 0, "its vectors are still in the cache"


def check_that_nothing_was_new(events: dict[str, dg.AssetMaterialization]) -> None:
    """A run over pages that are all indexed: what it says of tables, layers and the graph."""
    for name, column in zip(LAYERS, ("canonical_url", "target_url", "char_start", "embedding"), strict=True):
        schema = events[name].metadata["dagster/column_schema"].value
        assert isinstance(schema, dg.TableSchema)
        assert column in [one.name for one in schema.columns]
        assert number(events[name], "dagster/row_count") == number(events[name], "dagster/partition_row_count")
    assert number(events["documents"], "dagster/row_count") == 3
    assert str(number(events["embeddings"], "dagster/table_name")).endswith(".public.vectors_1")
    assert number(events["documents"], "pages_new") == 0
    assert number(events["documents"], "pages_unchanged") == 3
    assert number(events["link_candidates"], "links") == 2
    assert number(events["link_candidates"], "distinct_targets") == 2
    assert number(events["chunks"], "rows_written") == 0
    assert number(events["embeddings"], "texts_embedded") == 0
    assert number(events["embeddings"], "vectors") == number(events["chunks"], "children")
    assert number(events["embeddings"], "pages_waiting") == 0
    by_kind = events["embeddings"].metadata["graph_edges_by_kind"].value
    assert isinstance(by_kind, dict)
    total = number(events["embeddings"], "graph_edges")
    assert (by_kind["contains"], by_kind["links_to"], sum(by_kind.values())) == (3, 2, total)
    ui = TestClient(WithPages(Starlette(), load_settings()))
    assert "<svg" in ui.get(str(events["embeddings"].metadata["graph_page"].value)).text
