"""Sources that files in the home declare, and one that is attached from the launchpad."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg
import pytest

from webrag_dagster.components import declared_of
from webrag_dagster.source_folders import home_sources

TEA = "seed: https://tea.example/guide/\nrefresh: weekly\nwatches:\n  - page: install\n"
COFFEE = "type: webrag_dagster.components.CuratedSource\nattributes:\n  seed: https://coffee.example/\n"


def declared_in(home: Path, **files: str) -> dg.Definitions:
    """The sources of a home with these files."""
    folder = home / "sources"
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return dg.Definitions(assets=home_sources())


def test_a_file_of_the_home_is_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    assert home_sources() == []
    repository = declared_in(tmp_path, tea__yaml=TEA, coffee__yml=COFFEE, notes__txt="seed: x").get_repository_def()
    keys = {key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()}
    assert keys == {"sources/home/tea", "sources/home/coffee"}
    declared = declared_of(repository)
    assert {source["key"]: (source["declared_in"], source["refresh_hours"]) for source in declared.declarations} == {
        "tea.example/guide": ("home/sources/tea.yaml", 168),
        "coffee.example": ("home/sources/coffee.yml", 24),
    }
    assert [watch["page"] for _, watch in declared.watches] == ["https://tea.example/guide/install"]


@pytest.mark.filterwarnings("ignore:.*declares no source")
def test_a_file_with_a_mistake_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    bad = {
        "a__yaml": "seed: [",
        "b__yaml": "- x",
        "c__yaml": "seed: tea",
        "d__yaml": "type: os.System\nattributes: {}",
        "e__yaml": "seed: https://e.example/\ncolour: green",
        "tea__yml": TEA,
    }
    declared = declared_of(declared_in(tmp_path, tea__yaml=TEA, **bad).get_repository_def())
    assert [source["key"] for source in declared.declarations] == ["tea.example/guide"]
    assert sorted(declared.broken) == [f"home/sources/{name.replace('__', '.')}" for name in sorted(bad)]
    assert "colour" in declared.broken["home/sources/e.yaml"]
    assert "same name" in declared.broken["home/sources/tea.yml"]


def test_a_source_is_attached_from_the_launchpad(
    definitions: dg.Definitions, instance: dg.DagsterInstance, corpus_environment: str
) -> None:
    job = definitions.resolve_job_def("attach")
    config = {"url": "https://tea.example/guide/", "pages": 20, "refresh_hours": 6.0}
    done = job.execute_in_process(instance=instance, run_config=config)
    assert done.output_for_node("attach_source")["source"] == "tea.example/guide"
    assert instance.has_dynamic_partition("webrag_source", "tea.example/guide")
    with psycopg.connect(corpus_environment) as connection:
        row = connection.execute("SELECT page_limit, refresh_hours FROM sources").fetchone()
    assert row == (20, 6)
    wrong = job.execute_in_process(instance=instance, run_config={"url": "tea"}, raise_on_error=False)
    assert not wrong.success
