"""Two versions of the product on one corpus: the one before the last migration, out of git, and this one."""

from __future__ import annotations

import subprocess
import tarfile
import time
from io import BytesIO
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.faults.homes import PAGES, STORED, Home, url

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.fixture(scope="module")
def earlier_product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code before the newest migration came."""
    migrations = sorted((REPOSITORY / "webrag_core" / "store" / "migrations").glob("*.sql"))
    git = ["git", "-C", str(REPOSITORY)]
    log = subprocess.run(
        [*git, "log", "--diff-filter=A", "-1", "--format=%H", "--", str(migrations[-1])],
        capture_output=True,
        text=True,
        check=False,
    )
    commit = log.stdout.strip()
    archive = subprocess.run([*git, "archive", f"{commit}^"], capture_output=True, check=False) if commit else None
    if archive is None or archive.returncode:
        pytest.skip("no history of this repository here")
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as content:
        content.extractall(folder, filter="data")
    return folder


def test_two_versions_at_once_lose_nothing(
    earlier_product: Path, template: Home, undisturbed: str, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    earlier = Home(tmp_path / "home", template.warc, {"PYTHONPATH": str(earlier_product)})
    newer = Home(tmp_path / "home", template.warc)
    earlier.ingest(*range(STORED))
    before = earlier.state()
    at_work = earlier.start("ingest", *map(url, range(PAGES)))
    while len(list((newer.folder / "postgres").glob("postmaster.pid"))) == 0 and at_work.poll() is None:
        time.sleep(0.05)
    time.sleep(1.5)
    newer.webrag("db", "migrate")
    printed, problems = at_work.communicate()
    assert "Traceback" not in problems, problems
    if at_work.returncode:
        assert "database" in problems, printed + problems
    newer.check(before)
    refused = earlier.webrag("status", code=1)
    assert "database_too_new" in refused
    newer.ingest(*range(PAGES))
    newer.check(before)
    assert len({address for address, _ in newer.state()["texts"]}) == PAGES
