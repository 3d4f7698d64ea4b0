"""A restored backup brings back no link to an answer, and nothing that was removed on request since."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from tests.backup.fetched_tea import fetched_tea
from tests.conftest import fresh_database
from tests.corpus.corpora import broken_rules
from tests.web.tea_corpus import BLACK, EVIL, GREEN, HOST
from tests.web.tea_corpus import settings as tea_settings
from webrag_core.acquisition.urls import source_key
from webrag_core.answering.manager import Manager, Question
from webrag_core.application.upkeep import AddSource
from webrag_core.backup.dump import back_up
from webrag_core.backup.load import restore
from webrag_core.config import Settings
from webrag_core.corpus.forget import allow_again
from webrag_core.corpus.removal_list import keep_removals, list_name, read_list
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.removal import remove
from webrag_core.history.shares import add_share
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

_FAILED = (
    "INSERT INTO fetch_log (url, acquirer, outcome, reason, started_at) VALUES (%s, 'http', 'failed', 'timeout', now())"
)


@pytest.fixture(scope="module")
def corpus(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The tea corpus with an answer that has a link, a backup of it, and what was removed after that."""
    folder = tmp_path_factory.mktemp("tea")
    with fetched_tea(server_url, folder) as url:
        settings = tea_settings(url, webrag_home=folder)
        asyncio.run(_ask(settings))
        yield settings


async def _ask(settings: Settings) -> None:
    async with Corpus.open(settings) as corpus:
        for words in ("At how many degrees is green tea brewed?", "How long is black tea brewed?"):
            answered = await Manager(corpus).answer(Question(words))
            async with corpus.database.transaction() as connection:
                assert answered.answer_id is not None
                await add_share(connection, answered.answer_id, days=7)


async def _back_up(settings: Settings, file: Path) -> None:
    async with await Database.open(settings) as database:
        await back_up(database, settings, file)


@contextmanager
def twin(server_url: str, settings: Settings, home: Path) -> Iterator[Settings]:
    """A copy of the corpus of `settings`, in another home."""
    with fresh_database(server_url) as url:
        home.mkdir()
        yield tea_settings(url, webrag_home=home)


def list_in(home: Path) -> Path:
    [file] = home.glob("removals-*.json")
    return file


def answers(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM answer_runs WHERE kind = 'prose' ORDER BY id")]


def holding(url: str, *words: str) -> set[str]:
    """The words that a row of any table has."""
    held = set()
    with psycopg.connect(url) as connection:
        for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall():
            statement = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name))
            for (row,) in connection.execute(statement).fetchall():
                held |= {word for word in words if word in row}
    return held


@pytest.fixture(scope="module")
def file(corpus: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("backups") / "tea.zip"
    asyncio.run(_back_up(corpus, file))
    return file


@pytest.mark.slow
def test_what_was_taken_back_after_the_backup_stays_away(
    corpus: Settings, file: Path, server_url: str, tmp_path: Path
) -> None:
    assert corpus.database_url is not None
    first, second = answers(corpus.database_url)
    with twin(server_url, corpus, tmp_path / "first") as lived, twin(server_url, corpus, tmp_path / "second") as new:
        assert lived.database_url is not None
        assert new.database_url is not None
        report = asyncio.run(restore(lived, file))
        assert report.links == 2
        assert any("no list of removals" in warning for warning in report.warnings)
        asyncio.run(_live_on(lived, str(second)))
        listed = list_in(lived.webrag_home)
        assert oct(listed.stat().st_mode & 0o777) == "0o600"
        assert "tea" not in listed.read_text()
        report = asyncio.run(restore(new, file, listed))
        assert [(removal.kind, removal.target) for removal in report.removed] == [
            ("page", BLACK),
            ("answer", str(second)),
        ]
        assert report.violations == ()
        assert holding(new.database_url, "four minutes", "takes milk", "lid keeps") == {"lid keeps"}
        assert answers(new.database_url) == [first]
        with psycopg.connect(new.database_url) as connection:
            forgotten = "SELECT is_forgotten(%s), is_forgotten(%s), is_forgotten(%s)"
            assert connection.execute(forgotten, (BLACK, f"{HOST}/later", EVIL)).fetchone() == (True, True, False)
            assert connection.execute("SELECT count(*) FROM answer_shares").fetchone() == (0,)
        rules = asyncio.run(_rules(new))
        assert rules == set()
        # and the new home's list is as long
        before, after = read_list(listed), read_list(list_in(new.webrag_home))
        assert after.corpus == before.corpus
        assert {(row.url, row.at) for row in before.urls} == {(row.url, row.at) for row in after.urls}


async def _live_on(settings: Settings, answer: str) -> None:
    """Remove a page, an answer and a page that came after the backup; want one of the removed pages again."""
    async with await Database.open(settings) as database:
        for target in (BLACK, EVIL, answer):
            await remove(database, settings, target, removed_by="a person")
        async with database.connection() as connection:
            await allow_again(connection, [EVIL])
            await connection.execute(
                _FAILED,
                (f"{HOST}/later",),
            )
        await remove(database, settings, f"{HOST}/later", removed_by="a person")


async def _rules(settings: Settings) -> set[str]:
    async with await Database.open(settings) as database:
        return await broken_rules(database)


@pytest.mark.slow
def test_a_source_that_was_removed_goes_again_unless_it_was_attached_again(
    corpus: Settings, file: Path, server_url: str, tmp_path: Path
) -> None:
    async def live_on(settings: Settings, *, again: bool) -> None:
        async with await Database.open(settings) as database:
            await remove(database, settings, source_key(GREEN), removed_by="a person")
            if again:
                await AddSource.of(url=HOST, pages=5).change(database, settings)

    for again in (False, True):
        home = tmp_path / str(again)
        with twin(server_url, corpus, home) as lived, twin(server_url, corpus, tmp_path / f"new-{again}") as new:
            assert new.database_url is not None
            asyncio.run(restore(lived, file))
            asyncio.run(live_on(lived, again=again))
            report = asyncio.run(restore(new, file, list_in(home)))
            assert [removal.kind for removal in report.removed] == ([] if again else ["source"])
            assert report.documents == (4 if again else 0)
            assert bool(holding(new.database_url, "tea.example/")) is again


def test_the_list_of_another_corpus_is_not_used(corpus: Settings, file: Path, server_url: str, tmp_path: Path) -> None:
    number = UUID("00000000-0000-4000-8000-000000000000")
    other = {"format": 1, "corpus": str(number), "removals": [], "urls": []}
    with twin(server_url, corpus, tmp_path / "new") as new:
        named = tmp_path / "new" / list_name(number)
        named.write_text(json.dumps(other))
        with pytest.raises(InvalidInputError, match="of another corpus"):
            asyncio.run(restore(new, file, named))
        (tmp_path / "broken").write_text(json.dumps({**other, "urls": [{"url": "x"}]}))
        with pytest.raises(InvalidInputError, match="no list of removals"):
            asyncio.run(restore(new, file, tmp_path / "broken"))
        assert asyncio.run(restore(new, file)).lists == ()
        assert json.loads(named.read_text()) == other


@pytest.mark.slow
def test_a_backup_without_a_number_takes_the_list_that_is_named(
    corpus: Settings, file: Path, server_url: str, tmp_path: Path
) -> None:
    old = tmp_path / "old.zip"
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(old, "w") as target:
        for member in source.namelist():
            content = source.read(member)
            if member == "manifest.json":
                content = json.dumps({**json.loads(content), "corpus": None}).encode()
            target.writestr(member, content)
    number = UUID("00000000-0000-4000-8000-000000000000")
    forgotten = [{"url": sha256(BLACK.encode()).hexdigest(), "at": "2090-01-01T00:00:00Z"}]
    listed = tmp_path / list_name(number)
    listed.write_text(json.dumps({"format": 1, "corpus": str(number), "removals": [], "urls": forgotten}))
    with twin(server_url, corpus, tmp_path / "first") as first:
        [warning] = asyncio.run(restore(first, old)).warnings
        assert f"{listed} may be it" in warning
        assert "--removals" in warning
    with twin(server_url, corpus, tmp_path / "second") as second:
        assert [removal.target for removal in asyncio.run(restore(second, old, listed)).removed] == [BLACK]


def test_the_list_lies_beside_the_backups_of_the_series(server_url: str, tmp_path: Path) -> None:
    with fresh_database(server_url) as url:
        settings = tea_settings(url, webrag_home=tmp_path, backup_folder=tmp_path / "series")

        async def work() -> None:
            async with await Database.open(settings) as database:
                await keep_removals(database, settings)
                assert not os.listdir(tmp_path)  # nothing was ever removed
                async with database.connection() as connection:
                    await connection.execute(_FAILED, (BLACK,))
                (tmp_path / "series").mkdir()
                await remove(database, settings, BLACK, removed_by="a person")

        asyncio.run(work())
        assert list_in(tmp_path / "series").read_bytes() == list_in(tmp_path).read_bytes()
        assert len(read_list(list_in(tmp_path)).urls) == 1
