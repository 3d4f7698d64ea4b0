"""A disk that is full when a file of the home is written: nothing half is left, and the next try works."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.faults.test_disk import disk
from tests.web.tea_corpus import settings as tea_settings
from webrag_core.access_token import SERVE_TOKEN, local_token
from webrag_core.cli.output import write_file
from webrag_core.cli.running_server import RunningServer, announced
from webrag_core.config import Settings
from webrag_core.corpus.removal_list import keep_removals
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.releases import put_in_force
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_in_force
from webrag_core.store.database import Database

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="needs root to mount a small disk"),
]


async def _with(settings: Settings, work: Callable[[Database, Settings], object]) -> None:
    async with await Database.open(settings) as database:
        async with database.connection() as connection:
            await connection.execute(
                "INSERT INTO forgotten_urls (url_sha256) SELECT encode(sha256(n::text::bytea), 'hex')"
                " FROM generate_series(1, 100) n ON CONFLICT DO NOTHING"
            )
        await work(database, settings)  # type: ignore[misc]


def token(settings: Settings) -> None:
    local_token(settings.webrag_home, SERVE_TOKEN)


def server(settings: Settings) -> None:
    named = {"host": "127.0.0.1", "port": 1, "authority": "x", "token": None, "code": "c" * 5_000, "settings": "s"}
    with announced(settings.webrag_home, RunningServer(pid=1, commands=[], names=[], retired=[], **named)):  # type: ignore[arg-type]
        assert json.loads((settings.webrag_home / "serving.json").read_text())["host"] == "127.0.0.1"


def removals(settings: Settings) -> None:
    asyncio.run(_with(settings, keep_removals))


def weights(settings: Settings) -> None:
    least, *_, most = sorted(SHIPPED.by_name(), key=lambda name: SHIPPED.by_name()[name])
    moved = {least: SHIPPED.by_name()[least] + 0.01, most: SHIPPED.by_name()[most] - 0.01}
    put_in_force(settings, ScoreWeights.of({**SHIPPED.by_name(), **moved}), by="Ada", verdict={})


def export(settings: Settings) -> None:
    write_file(settings.webrag_home / "answer.md", "Tea. " * 5_000)


def fill(file: Path) -> None:
    """Write until the disk is full."""
    with file.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(b"x" * 4096):
            pass


@pytest.mark.parametrize("writes", [token, server, removals, weights, export], ids=lambda writes: writes.__name__)
def test_a_file_that_has_no_room(writes: Callable[[Settings], None], database_url: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with ExitStack() as stack:
        home = stack.enter_context(disk(tmp_path / "small", 1))
        home.chmod(0o700)
        settings = tea_settings(database_url, webrag_home=home)
        (home / "feedback").mkdir()
        filler = home / "filler"
        fill(filler)
        with pytest.raises((InvalidInputError, OSError), match="No space left on device"):
            writes(settings)
        left = [path for path in home.rglob("*") if path.is_file() and path != filler]
        assert all(writes is export or path.name == "releases.jsonl" for path in left), left
        assert all(path.stat().st_size == 0 for path in left), left
        assert weights_in_force(settings) == SHIPPED
        filler.unlink()
        writes(settings)
        if writes is weights:
            assert weights_in_force(settings) != SHIPPED
