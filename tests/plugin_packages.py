"""Packages of other people: installed into a folder, without pip or a network."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install package `name`: a module of that name with `source`, and its entry points (group -> name -> value)."""
    folder = tmp_path / "site-packages"

    def write(name: str, source: str, entry_points: Mapping[str, Mapping[str, str]]) -> Path:
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        sections = (
            f"[{group}]\n" + "".join(f"{one} = {value}\n" for one, value in entries.items())
            for group, entries in entry_points.items()
        )
        (metadata / "entry_points.txt").write_text("\n".join(sections))
        monkeypatch.syspath_prepend(folder)  # again for each package: its metadata is read anew
        return folder

    return write
