"""A page about which something is raised that nobody foresaw costs itself alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.dagster.small_warc import write_site
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.corpus.unforeseen import contained
from webrag_core.errors import EmbeddingError, FetchError, Reason
from webrag_core.indexing.pipeline import AddedDocument, Corpus

HOST = "https://tea.example"
PAGES = {f"{HOST}/{name}": f"<main><h1>{name}</h1><p>All about {name}, in some words.</p></main>" for name in "abcd"}
LINKS = "".join(f'<p>Read all about <a href="/{name}">the letter {name}</a> here.</p>' for name in "abcd")
PAGES[f"{HOST}/"] = f"<main><h1>Letters</h1>{LINKS}</main>"
BAD = f"{HOST}/b"
DEFECTS: list[Exception] = [
    *(
        OverflowError("cannot convert float infinity to integer"),
        RecursionError(),
        KeyError("x"),
        ValueError("Invalid"),
    ),
    *(AssertionError(), ExceptionGroup("two", [TypeError(), ValueError()])),
]


class _Plugin(WarcAcquirer):
    """An acquirer of another package: what it raises for a page is anything, and so is what it returns."""

    defect: Exception | None = None

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        if url == BAD and self.defect is not None:
            raise self.defect
        page = await super().fetch(url, etag=etag, last_modified=last_modified)
        return replace(page, status=10**30) if url == BAD else page  # which the database does not hold


@pytest.mark.parametrize("defect", [*DEFECTS[:2], None])
def test_a_batch_and_a_refresh_go_on(
    settings: Settings, tmp_path: Path, run: Callable[[Coroutine[Any, Any, Any]], Any], defect: Exception | None
) -> None:
    warc = write_site(tmp_path / "tea.warc.gz", PAGES)

    async def work() -> None:
        acquirer = _Plugin(warc)
        acquirer.defect = defect
        results: dict[str, AddedDocument | FetchError] = {}
        async with Corpus.open(settings, acquirer) as corpus:
            async with corpus.database.connection() as connection:
                await attach_source(connection, f"{HOST}/", 20)
            report = await corpus.refresher().run("tea.example")
            assert (report.counts.failed, report.counts.fetched) == (1, 4)
            assert report.failed == {BAD: "internal_error"}
            await corpus.add_all(PAGES, results.__setitem__, refresh=True)
            failed = results.pop(BAD)
            assert isinstance(failed, FetchError)
            assert failed.reason is Reason.INTERNAL_ERROR
            assert "trace" in failed.message
            assert len([one for one in results.values() if isinstance(one, AddedDocument)]) == 4

    run(work())


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: type(defect).__name__)
def test_what_nobody_foresaw_is_a_failure_of_the_page(defect: Exception) -> None:
    with pytest.raises(FetchError) as caught, contained(BAD):
        raise defect
    assert caught.value.reason is Reason.INTERNAL_ERROR
    assert caught.value.__cause__ is defect


@pytest.mark.parametrize("error", [EmbeddingError("refused"), MemoryError(), asyncio.CancelledError()])
def test_known_errors_and_interruptions_pass(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, contained(BAD):
        raise error
    assert caught.value is error


def test_the_known_error_of_a_group_is_raised_itself() -> None:
    known = EmbeddingError("refused")
    with pytest.raises(EmbeddingError) as caught, contained(BAD):
        raise ExceptionGroup("of tasks", [ExceptionGroup("inner", [known]), ValueError()])
    assert caught.value is known
