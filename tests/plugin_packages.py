"""Packages of other people: installed into a folder, without pip or a network."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install package `name`: its modules (without any, one of that name with `source`), and its entry points (group ->
    name -> value). Modules may lie in folders."""
    folder = tmp_path / "site-packages"

    def write(
        name: str,
        source: str,
        entry_points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
    ) -> Path:
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        for module, text in (modules or {name: source}).items():
            file = folder / f"{module.replace('.', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        sections = (
            f"[{group}]\n" + "".join(f"{entry} = {value}\n" for entry, value in entries.items())
            for group, entries in entry_points.items()
        )
        (metadata / "entry_points.txt").write_text("\n".join(sections))
        monkeypatch.syspath_prepend(folder)  # again for each package: its metadata is read anew
        return folder

    return write
