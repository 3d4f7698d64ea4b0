"""Many sources in one file: each line is one, a bad line fails alone, and a thousand load fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox

from webrag_dagster.components import declared_of

TABLE = "type: webrag_dagster.components.SourceTable\n"


@contextmanager
def loaded(*lines: object) -> Iterator[dg.RepositoryDefinition]:
    """A project whose table has these lines."""
    with dg.DagsterInstance.ephemeral(), create_defs_folder_sandbox() as sandbox:
        folder = sandbox.defs_folder_path / "many"
        folder.mkdir()
        (folder / "defs.yaml").write_text(TABLE)
        (folder / "sources.jsonl").write_text(
            "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        )
        with sandbox.build_all_defs() as definitions:
            yield definitions.get_repository_def()


def test_each_line_is_a_source_with_its_watches() -> None:
    tea = {"seed": "https://tea.example/guide/", "refresh": "weekly", "watches": [{"page": "install"}]}
    with loaded(tea, "", {"seed": "https://coffee.example/", "owners": ["team:coffee"]}) as repository:
        keys = {key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()}
        assert keys == {"sources/many/tea_example_guide", "sources/many/coffee_example"}
        declared = declared_of(repository)
    assert {one["key"]: one["refresh_hours"] for one in declared.declarations} == {
        "tea.example/guide": 168,
        "coffee.example": 24,
    }
    [(file, watch)] = declared.watches
    assert (file.endswith("many/sources.jsonl"), watch["page"]) == (True, "https://tea.example/guide/install")
    assert declared.broken == {}


@pytest.mark.filterwarnings("ignore:.*declares no source")
def test_a_line_with_a_mistake_fails_alone_and_its_file_is_named() -> None:
    tea = {"seed": "https://tea.example/"}
    bad = ["no json", {"seed": "tea"}, {"refresh": "daily"}, {**tea, "colour": "green"}, "[]", tea]
    with loaded(tea, *bad) as repository:
        declared = declared_of(repository)
    assert [one["key"] for one in declared.declarations] == ["tea.example"]
    [(file, reason)] = declared.broken.items()
    assert file == declared.declarations[0]["declared_in"], "what the lines declared before stays"
    assert [f"line {number}:" in reason for number in range(1, 8)] == [False, *[True] * 5, False]
    assert "colour" in reason
    assert "and 1 more" in reason
