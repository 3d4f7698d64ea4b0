"""The wheel, installed away from the clone: its commands find everything they need in the package."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.packaging.wheel import build_wheel
from tests.conftest import fresh_database

pytestmark = [pytest.mark.alone, pytest.mark.slow]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `webrag` from the wheel in an empty folder; dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("venv")
    # a path in a .pth file is only added: the editable install of the clone stays out
    (_installed(wheel, folder) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return partial(_run, folder, tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """As `run`; dependencies are those alone that `pip install webrag` installs."""
    folder = tmp_path_factory.mktemp("plain")
    installed = _installed(wheel, folder)
    ours = Path(sysconfig.get_path("purelib"))
    [metadata] = installed.glob("webrag-*.dist-info")
    for name in _required(PathDistribution(metadata)):
        for entry in {file.parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
            (installed / entry).symlink_to(ours / entry)
    return partial(_run, folder, tmp_path_factory.mktemp("empty"))


def _installed(wheel: Path, folder: Path) -> Path:
    """Make a virtual environment with the wheel and nothing else; return its site-packages."""
    venv.create(folder, symlinks=True)
    installed = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    zipfile.ZipFile(wheel).extractall(installed)
    return installed


def _required(package: Distribution) -> set[str]:
    """Names of the distributions that a package without extras needs, and of those that these need."""
    needed: set[tuple[str, str]] = set()  # names, each with an extra or ""
    left = [(package, "")]
    while left:
        one, extra = left.pop()
        for requirement in map(Requirement, one.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                new = {(canonicalize_name(requirement.name), asked) for asked in ("", *requirement.extras)} - needed
                left += [(distribution(name), asked) for name, asked in new]
                needed |= new
    return {name for name, _ in needed}


def _run(folder: Path, empty: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DAGSTER_HOME", "PYTHONPATH")}
    return subprocess.run(
        [folder / "bin" / "python", "-m", "webrag", *arguments],
        cwd=empty,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_holds_goldens_and_the_small_site_and_nothing_of_the_clones_user(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"evals/golden/decisions.jsonl", "evals/golden/sitewalk-rust-1.63.jsonl"} <= names
    assert {"evals/sites/demo.warc.gz", "evals/report/report.html.j2", "webrag_dagster/dagster.yaml"} <= names
    assert {"evals/golden/retrieval/documents.jsonl.xz", "webrag_core/providers/token_weights.npy"} <= names
    assert not [name for name in names if name.startswith(("benchmarks", "tests", "webrag_dagster/defs/sources"))]
    assert "webrag.py" in names
    # the guard is against data that slips in; code may grow
    data = [entry for entry in zipfile.ZipFile(wheel).infolist() if not entry.filename.endswith(".py")]
    assert sum(entry.compress_size for entry in data) < 1_800_000


def test_the_wheel_holds_no_fits_and_no_recipes_of_sites_and_imports_none(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel)
    modules = {name for name in packed.namelist() if name.endswith(".py")}
    left_out = ("evals/fitting", "evals/graph", "evals/history", "evals/sites")
    assert not [name for name in modules if name.startswith(left_out)]
    ours = ("evals", "webrag_core", "webrag_dagster")
    missing = {
        (name, imported)
        for name in modules
        for imported in _imported(packed.read(name).decode())
        if imported.split(".")[0] in ours and not _is_packed(imported, modules)
    }
    assert not missing


def _imported(source: str) -> set[str]:
    """Modules that a source imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def _is_packed(module: str, modules: set[str]) -> bool:
    path = module.replace(".", "/")
    return bool({f"{path}.py", f"{path}/__init__.py"} & modules)


def test_decision_goldens_pass_from_the_installed_package(run: Run) -> None:
    done = run("eval", "decisions")
    assert done.returncode == 0, done.stderr
    assert " right" in done.stdout


def test_a_plain_install_names_the_extra_that_a_command_needs(plain: Run) -> None:
    for command, needs in (("up", "Dagster: pip install 'webrag[dagster]'"), ("mcp", "the MCP SDK")):
        done = plain(command)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: `webrag {command}` needs {needs}")
        assert done.stderr.count("\n") == 1


def test_a_plain_install_asks_the_packaged_site_and_verifies_what_it_stored(plain: Run, server_url: str) -> None:
    with fresh_database(server_url) as url:
        settings = {"DATABASE_URL": url, "WEBRAG_PREVIEWS": "3"}
        demo = plain("demo", "--json", **settings)
        assert demo.returncode == 0, demo.stderr
        shown = json.loads(demo.stdout)
        assert shown["run_id"] is None
        assert shown["prose"]["sentences"]
        for result in (shown, shown["prose"]):
            assert any("pip install 'webrag[reader]'" in warning for warning in result["warnings"]), (
                "the verdict says so"
            )
        verified = plain("verify", **settings)
    assert verified.returncode == 0, verified.stdout + verified.stderr
