"""Files of a folder under git by path and date."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.acquisition.git_repositories import WrittenRepository
from tests.corpus.corpora import broken_rules, rows
from tests.local_site import LocalSite
from webrag_core.acquisition.git_folder import GitFolder
from webrag_core.config import Settings
from webrag_core.corpus.histories import HistoryDates
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.git_folder import GitFolderApi
from webrag_core.history.document_apis.models import DocumentReply
from webrag_core.indexing.pipeline import Corpus

BASE = "https://law.example/caf%C3%A9/"
FEE, DOGS = f"{BASE}fee.md", f"{BASE}animals/dogs.md"
COUNTS = "SELECT (SELECT count(*) FROM document_versions), (SELECT count(*) FROM version_periods)"


@pytest.fixture
def repository(tmp_path: Path) -> WrittenRepository:
    code = WrittenRepository(tmp_path / "code")
    code.commit("1980-01-01T08:00:00+0100", "first", fee="The fee is 1 crown.")
    code.commit("1985-01-01T08:00:00+0100", "dogs", animals__dogs="Dogs are kept on a lead.")
    code.commit("1990-07-01T08:00:00+0200", "The fee rises", fee="The fee is 2 crowns.")
    code.write("picture.png", "no text")
    code.commit("1995-01-01T08:00:00+0100", "Repealed", animals__dogs=None)
    return code


@pytest.mark.parametrize("dates", ["in-force", "seen"])
def test_files_by_path_and_date(settings: Settings, repository: WrittenRepository, dates: HistoryDates) -> None:
    async def work() -> None:
        folder = GitFolder(repository.folder, BASE)
        async with Corpus.open(settings, LocalSite({})) as corpus:
            api = GitFolderApi(corpus, folder, dates)

            async def ask(identifier: str, at: str | None = None) -> DocumentReply:
                return (await api.fetch([identifier], None if at is None else AsOf.parse(at)))[0]

            first = await ask("fee.md", "1983")
            assert (first.status, first.url, first.certainty) == ("stored", FEE, "certain")
            ((text,),) = await rows(
                corpus.database, "SELECT markdown FROM document_versions WHERE id = %s", first.version_id
            )
            assert "1 crown." in text
            before = await rows(corpus.database, COUNTS)
            again = await ask(FEE, "1983")
            assert (again.status, again.version_id) == ("already_stored", first.version_id)
            another = GitFolderApi(corpus, folder, dates)  # as another process would ask
            assert (await another.fetch(["fee.md"], AsOf.parse("1983")))[0].status == "already_stored"
            assert await rows(corpus.database, COUNTS) == before
            assert (await ask("fee.md")).version_id != first.version_id
            for at, outside in (("1970", "not_yet"), ("2000", "repealed")):
                gone = await ask("animals/dogs.md", at)
                assert (gone.status, gone.outside) == ("no_version_at", outside), at
            assert (await ask("./animals/dogs.md", "1990")).version_id is not None
            if dates == "seen":
                future = await ask("fee.md", "2999")
                assert (future.status, future.outside) == ("no_version_at", "unknown")
            batch = ["fee.md", "none.md", "", "\0", "../fee.md", "picture.png", "\ud800"]
            replies = await api.fetch(batch, AsOf.parse("1992"))
            assert [one.status for one in replies] == ["already_stored", *["not_found"] * 6]
            assert [one.start.year for one in await api.versions("fee.md") if one.start] == [1980, 1990]
            assert [one.end and one.end.year for one in await api.versions("animals/dogs.md")] == [1995]
            with pytest.raises(InvalidInputError):
                await api.versions("none.md")
            assert [one.url for one in await api.search_titles("animals dogs")] == [DOGS]
            assert await api.search_titles("cats") == []
            assert await broken_rules(corpus.database) == set()
        folder.close()

    asyncio.run(work())
