"""Whatever a source file holds and is called, it fails alone: the good files beside it are loaded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from webrag_dagster.components import declared_of
from webrag_dagster.source_folders import home_sources

pytestmark = pytest.mark.filterwarnings("ignore:.*declares no source")
GOOD = "seed: https://tea.example/guide/\n"


def _written(text: str | bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode())


BAD: dict[str, Callable[[Path], object]] = {
    "no YAML": _written("seed: [\n\t"),
    "two documents": _written("seed: https://a.example/\n---\nseed: https://b.example/\n"),
    "an object of Python": _written("!!python/object/apply:os.system ['true']"),
    "an unknown tag": _written("seed: !secret x"),
    "empty": _written(""),
    "a list": _written("- seed"),
    "a number": _written("7"),
    "wrong types": _written("seed: [a]\npages: many\nwatches: 3\nowners: {a: b}\n"),
    "infinite": _written(GOOD + "pages: .inf\nshards: .nan\n"),
    "a date": _written("seed: 2026-01-01\n"),
    "no owner": _written(GOOD + "owners: ['@@@']\n"),
    "keys that are no words": _written("1: 2\nnull: x\n[a]: b\n"),
    "type that is no type": _written("type: [x]\nattributes: 7\n"),
    "another component": _written("type: dagster.DefsFolderComponent\n"),
    "half a pair": _written('seed: "https://a.example/\\ud800"\ndescription: "\\ud800"\n'),
    "no text": _written(bytes(range(256))),
    "zeros": _written(b"\0" * 500),
    "huge": _written("a: " + "x" * 300_000),
    "deep": _written("[" * 50_000),
    "aliases of aliases": _written(
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
        )
        + "seed: *i\nowners: *i\n"
    ),
    "a template": _written("seed: '{{ env.NOWHERE }}'\n"),
    "a broken template": _written("seed: '{{ {% '\n"),
    "a table that is missing": _written("type: webrag_dagster.components.SourceTable\n"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
}


def loaded_whole(definitions: dg.Definitions) -> dict[str, str]:
    """Reasons of the broken files, where the good source is loaded and everything can be stored as JSON."""
    repository = definitions.get_repository_def()
    declared = declared_of(repository)
    assert [source["key"] for source in declared.declarations] == ["tea.example/guide"]
    for node in repository.asset_graph.asset_nodes:
        json.dumps([node.key.path, node.description, *declared.broken.items()], ensure_ascii=False).encode()
    return declared.broken


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_of_the_home_fails_alone(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "tea.yaml").write_text(GOOD)
    BAD[kind](tmp_path / "sources" / "bad.yaml")
    broken = loaded_whole(dg.Definitions(assets=home_sources()))
    assert set(broken) == {"home/sources/bad.yaml"}
    assert 0 < len(broken["home/sources/bad.yaml"]) <= 1000


def test_bad_files_of_the_package_fail_alone() -> None:
    with dg.DagsterInstance.ephemeral(), create_defs_folder_sandbox() as sandbox:
        sources = sandbox.defs_folder_path / "sources"
        sources.mkdir()
        shutil.copy(REPOSITORY / "webrag_dagster/defs/sources/defs.yaml", sources)
        names = {f"bad-{number}": write for number, write in enumerate(BAD.values())}
        names |= {"tea": _written(GOOD), "bad_0": _written(GOOD), "home": _written(GOOD)}
        for name, write in names.items():
            (sources / name).mkdir()
            write(sources / name / "defs.yaml")
        (sources / "circle").symlink_to(sources)
        with sandbox.build_all_defs() as definitions:
            broken = loaded_whole(definitions)
    assert {file.rpartition("/")[2] for file in broken} == names.keys() - {"tea"} | {"circle"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.one_of(
            st.binary(min_size=1, max_size=40).filter(lambda name: not set(name) & {0, 47}),
            st.text("aä./-_ \n'\"*%{}", min_size=1, max_size=20).filter(lambda name: "/" not in name).map(str.encode),
        ),
        st.one_of(
            st.binary(max_size=60),
            st.text("[]{}:-&*!|>#%@`'\"\n\t a1", max_size=60).map(str.encode),
            st.just(GOOD.replace("guide", "other").encode()),
        ),
        max_size=6,
    )
)
def test_whatever_files_are_called_and_hold(
    files: dict[bytes, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    folder = tmp_path / "sources"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "tea.yaml").write_text(GOOD)
    for name, content in files.items():
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name + b".yaml")).write_bytes(content)
    repository = dg.Definitions(assets=home_sources()).get_repository_def()
    declared = declared_of(repository)
    good = [file for file, content in files.items() if b"other" in content]
    assert any(source["key"] == "tea.example/guide" for source in declared.declarations)
    assert len(list(repository.asset_graph.get_all_asset_keys())) == 1 + len(files)
    assert len(declared.broken) >= len(files) - len(good)
    json.dumps([sorted(declared.broken.items()), declared.declarations], ensure_ascii=False).encode()
