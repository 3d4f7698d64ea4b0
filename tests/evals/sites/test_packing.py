"""A Debian package becomes a frozen site."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evals.sites import build_debian, build_python, build_rust
from evals.sites.packing import run_command
from evals.walks.suites import own_suites
from webrag_core.acquisition.warc import WarcAcquirer

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The Python documentation in short."""
    root = tmp_path / "tree/usr/share/doc/python3.11/html"
    for name in ("index.html", "tutorial/index.html", "tutorial/a.html", "a.html.gz", "_sources/a.html"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("<html><body>Text</body></html>")
    (tmp_path / "tree/DEBIAN").mkdir()
    control = "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@docs.example>\nDescription: a\n"
    (tmp_path / "tree/DEBIAN/control").write_text(control)
    command = ["dpkg-deb", "--root-owner-group", "--build", str(tmp_path / "tree"), str(tmp_path / "a.deb")]
    subprocess.run(command, check=True, capture_output=True)
    return tmp_path / "a.deb"


def test_what_was_chosen_is_packed_under_the_sites_own_addresses(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "site.warc.gz"
    monkeypatch.setattr(sys, "argv", ["build_python", str(package), str(target)])
    run_command(build_python.__doc__, build_python.pack)
    assert capsys.readouterr().out == f"3 responses in {target}\n"
    base = build_python.BASE
    assert set(WarcAcquirer(target).page_urls()) == {base, f"{base}tutorial/", f"{base}tutorial/a.html"}


def test_a_package_of_something_else_is_refused_and_nothing_is_written(package: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no usr/share/doc/rust-doc/html"):
        build_rust.pack(package, tmp_path / "site.warc.gz")
    assert not (tmp_path / "site.warc.gz").exists()


def test_a_recipe_takes_what_links_lead_to_and_refuses_other_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree/usr/share/help"
    pages = {
        "en/start.html": '<base href="../"><a href="en/a.html#x">A</a><a href="all.html">All</a>',
        "en/a.html": '<a href="b.html">B</a><a href="../de/c.html">C</a><a href="https://other.example/d.html">D</a>',
        "en/b.html": "Nothing",
        "en/unlinked.html": "Nothing",
        "de/c.html": "Nothing",
        "all.html": "Nothing",
    }
    for name, body in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"<html><body>{body}</body></html>")
    (tmp_path / "tree/DEBIAN").mkdir()
    control = "Package: help\nVersion: 1\nArchitecture: all\nMaintainer: A <a@docs.example>\nDescription: a\n"
    (tmp_path / "tree/DEBIAN/control").write_text(control)
    package = tmp_path / "help_1_all.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", str(tmp_path / "tree"), str(package)]
    subprocess.run(command, check=True, capture_output=True)
    recipe = build_debian.Recipe(
        package="help",
        version="1",
        root="usr/share/help",
        base="https://help.example/7/",
        start="en/start.html",
        sections=("en/", "all"),
        left_out=("all.html",),
        sha256="0",
    )
    monkeypatch.setitem(build_debian.RECIPES, "help-1", recipe)
    target = tmp_path / "help-1.warc.gz"
    with pytest.raises(SystemExit, match="not 0;"):
        build_debian.main(["help-1", "--packages", str(tmp_path), "--target", str(tmp_path)])
    assert not target.exists()
    digest = build_debian.records_digest(tmp_path / "help-1.warc.part")
    monkeypatch.setitem(build_debian.RECIPES, "help-1", dataclasses.replace(recipe, sha256=digest))
    build_debian.main(["help-1", "--packages", str(tmp_path), "--target", str(tmp_path)])
    assert set(WarcAcquirer(target).page_urls()) == {
        f"https://help.example/7/en/{name}.html" for name in ("start", "a", "b")
    }


def test_the_snapshots_in_git_are_what_their_recipes_give() -> None:
    suites = own_suites()
    assert build_debian.RECIPES.keys() <= suites.keys()
    assert {name for name, suite in suites.items() if not suite.in_git} <= build_debian.RECIPES.keys()
    for name, recipe in build_debian.RECIPES.items():
        if suites[name].in_git:
            assert build_debian.records_digest(suites[name].warc) == recipe.sha256, name
