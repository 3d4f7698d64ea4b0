"""A Debian package becomes a frozen site."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evals.sites import build_python, build_rust
from evals.sites.packing import run_command
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
