"""The wheel, installed away from the clone: its commands find everything they need in the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, fresh_database

PACKAGES = ("webrag_core", "webrag_dagster", "evals")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
RUN = "from webrag_core.cli.main import main; main()"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources, without network."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in PACKAGES:
        left_out = shutil.ignore_patterns("__pycache__", "python-*.warc.gz", "rust-*.warc.gz", "postgresql-*.warc.gz")
        shutil.copytree(REPOSITORY / name, source / name, symlinks=True, ignore=left_out)
    for name in ("pyproject.toml", "webrag.py", "README.md", "LICENSE", "NOTICE", "dagster.yaml"):
        shutil.copy(REPOSITORY / name, source)
    subprocess.run([sys.executable, "-c", BUILD, target], cwd=source, check=True, capture_output=True)
    [built] = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `webrag` from the wheel in an empty folder; dependencies are those of this environment."""
    folder, empty = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("empty")
    venv.create(folder, symlinks=True)
    installed = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    zipfile.ZipFile(wheel).extractall(installed)
    # a path in a .pth file is only added: the editable install of the clone stays out
    (installed / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in ("DAGSTER_HOME", "PYTHONPATH")}
        command = [folder / "bin" / "python", "-c", RUN, *arguments]
        return subprocess.run(
            command,
            cwd=empty,
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_the_wheel_holds_goldens_and_the_small_site_and_nothing_of_the_clones_user(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"evals/golden/decisions.jsonl", "evals/golden/sitewalk-rust-1.63.jsonl"} <= names
    assert {"evals/sites/demo.warc.gz", "evals/report/report.html.j2", "webrag_dagster/dagster.yaml"} <= names
    assert {"evals/golden/retrieval/documents.jsonl.gz", "webrag_core/providers/token_weights.npy"} <= names
    assert not [name for name in names if name.startswith(("benchmarks", "tests", "webrag_dagster/defs/sources"))]
    assert wheel.stat().st_size < 3_000_000


def test_the_demo_answers_from_the_installed_package(run: Run, server_url: str) -> None:
    with fresh_database(server_url) as url:
        done = run("demo", DATABASE_URL=url, WEBRAG_READER="none", WEBRAG_PREVIEWS="3")
    assert done.returncode == 0, done.stderr
    assert "math.gcd" in done.stdout
    assert "library/math.html" in done.stdout
    for part in ("[1] ", "round 1, depth 1", "Stopped: ", "/assets/answers"):
        assert part in done.stdout


def test_decision_goldens_pass_from_the_installed_package(run: Run) -> None:
    done = run("eval", "decisions")
    assert done.returncode == 0, done.stderr
    assert " right" in done.stdout
