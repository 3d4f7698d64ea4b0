"""The typed source component: what a YAML file can say, what it becomes, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox
from pydantic import ValidationError

from tests.conftest import REPOSITORY
from webrag_core.corpus.declared import Declaration
from webrag_dagster.components import CuratedSource, declared_of, hours_of


def source(**attributes: Any) -> CuratedSource:
    """A source as its file has it."""
    return CuratedSource.from_attributes_dict(attributes=attributes)


def test_a_seed_is_enough() -> None:
    declared = Declaration(**source(seed="HTTPS://Docs.Example/guide/index.html").declaration("here.yaml"))
    assert declared == Declaration(
        key="docs.example/guide",
        seed_url="https://docs.example/guide/index.html",
        path_prefix="/guide/",
        page_limit=500,
        declared_in="here.yaml",
        refresh_hours=24,
    )


def test_every_field_arrives() -> None:
    full = source(
        seed="http://docs.example:8080/a/b",
        scope="/a",
        pages=9000,
        links="map",
        refresh="3d",
        watch="15m",
        acquirer="firecrawl",
        shards=8,
        pool="slow",
        versions_in_path="/a/{version}",
    )
    assert Declaration(**full.declaration("x")) == Declaration(
        key="docs.example:8080/a",
        seed_url="http://docs.example:8080/a/b",
        path_prefix="/a",
        page_limit=9000,
        declared_in="x",
        refresh_hours=72,
        watch_minutes=15,
        shards=8,
        acquirer="firecrawl",
        pool="slow",
        follow="map",
        versions_in_path="/a/{version}/",
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "seed"),
        ({"seed": "docs.example"}, "not an absolute URL"),
        ({"seed": "https://user:secret@docs.example/"}, "user name or password"),
        ({"seed": "https://docs.example/", "scope": "docs"}, "begins with a slash"),
        ({"seed": "https://docs.example/", "scope": "/docs?x"}, "is not a path prefix"),
        ({"seed": "https://docs.example/", "versions_in_path": "/v{version}/"}, "where versions stand"),
        ({"seed": "https://docs.example/", "refresh": "sometimes"}, "is no time span"),
        ({"seed": "https://docs.example/", "refresh": "0h"}, "is no time span"),
        ({"seed": "https://docs.example/", "links": "all"}, "'none', 'map' or 'links'"),
        ({"seed": "https://docs.example/", "shards": 100}, "less than or equal to 99"),
        ({"seed": "https://docs.example/", "pages": 0}, "greater than or equal to 1"),
        ({"seed": "https://docs.example/", "cadence": "daily"}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_reason(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        source(**fields)


@pytest.mark.parametrize(
    ("span", "hours"), [("hourly", 1), ("daily", 24), ("weekly", 168), ("90m", 1.5), ("6h", 6), ("3d", 72)]
)
def test_time_spans(span: str, hours: float) -> None:
    assert hours_of(span) == hours


def test_the_shipped_example_is_in_the_catalog_and_is_never_fetched(definitions: dg.Definitions) -> None:
    node = definitions.resolve_asset_graph().get(dg.AssetKey(["sources", "python_docs"]))
    assert node.is_external
    assert node.group_name == "sources"
    assert "asyncio" in (node.description or "")
    assert "webrag/disabled" in node.tags
    assert declared_of(definitions.get_repository_def()).declarations == []


YAML = "type: webrag_dagster.components.CuratedSource\nattributes:\n  seed: {seed}\n{more}"


@contextmanager
def project(**files: str) -> Iterator[dg.Definitions]:
    """A project's folder of YAML files, loaded as Dagster loads ours."""
    # loading looks at the instance of its context, which must not be one that an earlier test has closed
    with dg.DagsterInstance.ephemeral(), create_defs_folder_sandbox() as sandbox:
        sources = sandbox.defs_folder_path / "sources"
        sources.mkdir()
        shutil.copy(REPOSITORY / "webrag_dagster/defs/sources/defs.yaml", sources)
        for name, text in files.items():
            folder = sources / name
            folder.mkdir()
            (folder / "defs.yaml").write_text(text)
        with sandbox.build_all_defs() as loaded:
            yield loaded


def test_every_file_is_a_source_and_the_sensor_reads_them_from_the_definitions() -> None:
    tea = YAML.format(seed="https://tea.example/guide/", more="  refresh: weekly\n")
    off = YAML.format(seed="https://off.example/", more="  enabled: false\n")
    with project(tea=tea, coffee=YAML.format(seed="https://coffee.example/", more=""), off=off) as loaded:
        assert {key.to_user_string() for key in loaded.resolve_asset_graph().get_all_asset_keys()} == {
            "sources/tea",
            "sources/coffee",
            "sources/off",
        }
        declared = {row["key"]: Declaration(**row) for row in declared_of(loaded.get_repository_def()).declarations}
    assert set(declared) == {"tea.example/guide", "coffee.example"}
    assert declared["tea.example/guide"].refresh_hours == 168
    assert declared["tea.example/guide"].declared_in.endswith("defs/sources/tea")


def test_two_files_for_two_sections_of_one_host_are_two_sources() -> None:
    one, two = (YAML.format(seed=f"https://tea.example/{path}/", more="") for path in ("green", "black"))
    with project(one=one, two=two) as loaded:
        declared = {row["key"] for row in declared_of(loaded.get_repository_def()).declarations}
    assert declared == {"tea.example/green", "tea.example/black"}


def test_two_files_for_one_section_are_refused_by_name_and_everything_else_is_there() -> None:
    twice = YAML.format(seed="https://tea.example/", more="")
    with project(one=twice, two=twice, three=YAML.format(seed="https://coffee.example/", more="")) as loaded:
        declared = declared_of(loaded.get_repository_def())
    assert [row["key"] for row in declared.declarations] == ["coffee.example"]
    assert {file.rpartition("/")[2] for file in declared.broken} == {"one", "two"}
    assert all("tea.example is declared twice, in " in reason for reason in declared.broken.values())
    off = YAML.format(seed="https://tea.example/", more="  enabled: false\n")
    with project(one=twice, two=off) as loaded:
        assert len(declared_of(loaded.get_repository_def()).declarations) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (YAML.format(seed="https://tea.example/", more="  refresh: sometimes\n"), "'sometimes' is no time span"),
        (YAML.format(seed="tea", more=""), "not an absolute URL"),
        (YAML.format(seed="https://tea.example/", more="  pages: many\n"), "unable to parse string as an integer"),
        (YAML.format(seed="https://tea.example/", more="  cadence: daily\n"), "cadence: Extra inputs"),
        ("type: webrag_dagster.components.CuratedSource\n", "seed: Field required"),
        (YAML.format(seed='"{{ nowhere }}"', more=""), "nowhere"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*declares no source")
def test_a_file_with_a_mistake_fails_alone_and_says_what_is_wrong(text: str, reason: str) -> None:
    good = YAML.format(seed="https://coffee.example/", more="")
    with project(tea=text, coffee=good) as loaded:
        declared = declared_of(loaded.get_repository_def())
        broken = loaded.resolve_asset_graph().get(dg.AssetKey(["sources", "tea"]))
    assert [row["key"] for row in declared.declarations] == ["coffee.example"]
    [(file, said)] = declared.broken.items()
    assert file.endswith("defs/sources/tea")
    assert reason in said
    assert reason in (broken.description or "")


def test_the_example_says_everything_that_the_component_knows_but_owners() -> None:
    text = (REPOSITORY / "webrag_dagster/defs/sources/python_docs/defs.yaml").read_text()
    known = set(CuratedSource.model_fields) - {"owners"}
    assert {name for name in known if f"\n  {name}:" in text} == known
