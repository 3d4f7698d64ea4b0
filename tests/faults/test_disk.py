"""A disk that is full, cannot be written, or gives back other bytes than were stored."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.homes import PAGES, STORED, Home

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="needs root to mount a small disk"),
]
_MB = 2**20


@contextmanager
def disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk of this size, mounted at `folder`."""
    folder.mkdir(mode=0o755)
    options = f"size={megabytes}m,mode=755"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=False)
    if mounted.returncode and "CI" not in os.environ:
        pytest.skip("cannot mount here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def megabytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // _MB


@pytest.mark.parametrize("free", [1, 6, 18])
def test_a_disk_that_fills_up_loses_nothing(free: int, template: Home, undisturbed: str, tmp_path: Path) -> None:
    before = template.state()
    tmp_path.chmod(0o755)
    with disk(tmp_path / "small", megabytes(template.folder) + free + 2) as small:
        home = template.copied(small / "home")
        printed = home.ingest(*range(PAGES), code=None)
        backup = home.webrag("backup", str(small / "all.zip"), code=None)
        remount(small, "size=600m")
        assert (small / "all.zip").exists() is (home.folder.exists() and "rows of" in backup)
        if "No space" not in printed and "disk" not in printed:
            assert len(home.state()["texts"]) > len(before["texts"]), printed
        home.check(before)
        home.ingest(*range(PAGES))
        assert home.state(digest=True)["digest"] == undisturbed


def test_a_backup_that_does_not_fit_is_none(template: Home, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with disk(tmp_path / "small", 1) as small:
        (small / "filler").write_bytes(b"x" * 900_000)
        printed = template.webrag("backup", str(small / "all.zip"), code=1)
        assert "No space left on device" in printed
        assert [file.name for file in small.iterdir()] == ["filler"]
        (small / "filler").unlink()
        assert "rows of" in template.webrag("backup", str(small / "all.zip"))


def test_a_home_that_cannot_be_written_says_so(template: Home, tmp_path: Path) -> None:
    before = template.state()
    tmp_path.chmod(0o755)
    with disk(tmp_path / "small", megabytes(template.folder) + 100) as small:
        home = template.copied(small / "home")
        remount(small, "ro")
        for command in (("status",), ("search", "tea"), ("ingest", "https://tea.example/p20"), ("verify",)):
            printed = home.webrag(*command, code=None)
            assert "WEBRAG_HOME" in printed, printed
            assert "Read-only file system" in printed, printed
        remount(small, "rw")
        home.check(before)
        home.ingest(STORED)


def test_a_damaged_page_of_a_table_is_named(home: Home) -> None:
    assert (
        home.python(
            "import psycopg, os; from pathlib import Path; from webrag_core.store.embedded import embedded_url;"
            " url = embedded_url(Path(os.environ['WEBRAG_HOME']));"
            " print(psycopg.connect(url).execute('SHOW data_checksums').fetchone()[0])"
        ).strip()
        == "on"
    )
    place = home.python(
        "import psycopg, os; from pathlib import Path; from webrag_core.store.embedded import embedded_url;"
        " connection = psycopg.connect(embedded_url(Path(os.environ['WEBRAG_HOME'])));"
        ' print(connection.execute("SELECT pg_relation_filepath(reltoastrelid) FROM pg_class'
        " WHERE relname = 'document_versions'\").fetchone()[0])"
    ).strip()
    assert home.server() is None
    with (home.folder / "postgres" / place).open("r+b") as table:
        table.seek(2_000)
        table.write(b"other bytes than were stored")
    for command in (("verify",), ("backup", str(home.folder.with_name("b.zip")))):
        printed = home.webrag(*command, code=1)
        assert "damaged" in printed, printed
        assert "restore" in printed, printed
    assert not home.folder.with_name("b.zip").exists()
    assert "tea.example" in home.webrag("status")
    printed = home.webrag("search", "tea degrees", code=None)
    assert "degrees" in printed or "damaged" in printed  # the page of the table may hold one of its texts
