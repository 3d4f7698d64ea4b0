"""One filled home for all faults, of which each gets a copy, and the digest of a corpus that nothing happened to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.homes import PAGES, Home, discard, filled_home


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def undisturbed(template: Home, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Digest of the corpus with all pages."""
    folder = tmp_path_factory.mktemp("undisturbed")
    folder.chmod(0o755)
    whole = template.copied(folder / "home")
    whole.ingest(*range(PAGES))
    return str(whole.state(digest=True)["digest"])


@pytest.fixture
def home(template: Home, tmp_path: Path) -> Iterator[Home]:
    tmp_path.chmod(0o755)
    yield template.copied(tmp_path / "home")
    discard(tmp_path / "home")
