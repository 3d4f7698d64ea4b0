"""Pages that are versions of each other: recognised by address and title, or by the operator's pattern."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.declared import Declaration, apply_declarations
from webrag_core.corpus.forget import forget
from webrag_core.corpus.version_paths import checked_pattern, versioned_paths, work_title
from webrag_core.corpus.works import load_works, update_works
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus

SITE = "https://manual.example"


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        ("/3.11/library/queue.html", ["3.11"]),
        ("/v2/guide/", ["v2"]),
        ("/en/stable/index.html", ["stable"]),
        ("/docs/15/sql-select.html", ["15"]),
        ("/release-1.2.x/a", ["release-1.2.x"]),
        ("/3.14-dev/a", ["3.14-dev"]),
        ("/latest/3.1/a", ["latest", "3.1"]),
        ("/2024/05/post", []),  # a year and a month
        ("/page/2/", []),
        ("/issue/12/x", []),
        ("/a/b.html", []),
        ("/", []),
    ],
)
def test_segments_that_look_like_versions(path: str, labels: list[str]) -> None:
    assert [one.label for one in versioned_paths(SITE + path)] == labels


def test_the_operators_pattern_decides() -> None:
    spring = list(versioned_paths(f"{SITE}/spring/guide?x=1", checked_pattern("/{version}")))
    assert [(one.key, one.label) for one in spring] == [(f"{SITE}/{{version}}/guide?x=1", "spring")]
    assert list(versioned_paths(f"{SITE}/3.11/guide", checked_pattern("/docs/{version}/"))) == []
    assert [one.label for one in versioned_paths(f"{SITE}/docs/7/guide", checked_pattern("/docs/{version}/"))] == ["7"]
    for wrong in ("{version}", "/v{version}/", "/{version}/{version}/", "/docs/", "/{version}/guide/"):
        with pytest.raises(InvalidInputError, match="where versions stand"):
            checked_pattern(wrong)


def test_titles_without_versions() -> None:
    assert work_title("Queues — Python 3.11.2 documentation") == work_title("Queues — Python v3.13rc1 documentation")
    assert work_title("Guide (stable)") == work_title("Guide 2.0") == "guide"
    assert work_title("Stable marriages") == "stable marriages"
    assert work_title("3.11") is None
    assert work_title(None) is None


def test_versions_beside_each_other_are_one_work(settings: Settings) -> None:
    def page(version: str, title: str = "Queues") -> str:
        return html(f"{title} – Manual {version}", f"Queues of release {version} hold as many items as you like.")

    site = ServedPages(
        {f"{SITE}/{version}/queue": page(version) for version in ("3.9", "3.11", "stable")}
        | {f"{SITE}/4.0/queue": page("4.0", "Waiting lines"), f"{SITE}/spring/x": page("1", "Spring")}
        | {f"{SITE}/autumn/x": page("1", "Autumn")}
    )

    async def labels(corpus: Corpus, path: str) -> list[list[str]]:
        return [[one.label for one in work.members] for work in await load_works(corpus.database, SITE + path)]

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            for url in site.pages:
                await corpus.add(url)
            await corpus.indexer.finish_bulk()
            assert await labels(corpus, "/3.11/queue") == [["3.9", "3.11", "stable"]]
            assert await labels(corpus, "/4.0/queue") == []  # another title
            assert await labels(corpus, "/spring/x") == []
            assert await update_works(corpus.database) == 0
            site.pages[f"{SITE}/3.9/queue"] = page("3.9", "Old waiting lines")
            await corpus.add(f"{SITE}/3.9/queue", refresh=True)
            assert await update_works(corpus.database) == 1
            assert await labels(corpus, "/3.11/queue") == [["3.11", "stable"]]
            declared = Declaration("manual.example", f"{SITE}/", "/", 99, "defs/manual", versions_in_path="/{version}/")
            async with corpus.database.transaction() as connection:
                assert await apply_declarations(connection, [declared])
            assert await update_works(corpus.database) == len(site.pages)
            assert await labels(corpus, "/spring/x") == [["autumn", "spring"]]
            assert await labels(corpus, "/3.11/queue") == [["3.9", "3.11", "4.0", "stable"]]
            async with corpus.database.transaction() as connection:
                await apply_declarations(connection, [])
            await update_works(corpus.database)
            assert await labels(corpus, "/spring/x") == []
            assert await rows(corpus.database, "SELECT count(*) FROM works WHERE title = ''") == [(0,)]
            await forget(corpus.database, f"{SITE}/4.0/queue", removed_by="test")
            assert await rows(corpus.database, "SELECT count(*) FROM works WHERE starts_with(title, 'waiting')") == [
                (0,)
            ]
            await forget(corpus.database, f"{SITE}/stable/queue", removed_by="test")
            assert await labels(corpus, "/3.11/queue") == []
            assert not await broken_rules(corpus.database)

    asyncio.run(work())
