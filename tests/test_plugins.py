"""Parts that other packages add through entry points: how they are found, and what one that is broken costs."""

from __future__ import annotations

import asyncio
import re
import sys
import tomllib
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import pytest

from tests.conftest import REPOSITORY
from tests.plugin_packages import Install, install
from webrag_core import extending, plugins
from webrag_core.acquisition.plugins import GuardedAcquirer
from webrag_core.config import load_settings
from webrag_core.conversion.convert import convert_page
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import InvalidInputError, PluginError
from webrag_core.extending import AcquiredPage
from webrag_core.plugins import PluginGroup
from webrag_core.retrieval.reranking import make_reranker

__all__ = ["install"]

GROUPS = [value for value in vars(plugins).values() if isinstance(value, PluginGroup)]
SHELVES = PluginGroup("webrag.shelves", "shelf", frozenset({"plain"}))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.noun)
def test_our_own_plugins_are_there_and_can_be_called(group: PluginGroup) -> None:
    ours = [plugin for plugin in group.plugins().values() if plugin.is_ours]
    assert ours
    assert all(callable(plugin.entry.load()) for plugin in ours)


def test_a_plugin_is_imported_when_it_is_asked_for_and_no_other_one_with_it(install: Install) -> None:
    install("good_shelf", "def make(size): return ['book'] * size", {SHELVES.group: {"oak": "good_shelf:make"}})
    install("bad_shelf", "import no_such_module", {SHELVES.group: {"ash": "bad_shelf:make"}})
    assert SHELVES.names() == ["ash", "oak", "plain"]
    assert not {"good_shelf", "bad_shelf"} & set(sys.modules)
    plugin = SHELVES.find("oak")
    assert not plugin.is_ours
    assert plugin.make(2) == ["book", "book"]
    assert "bad_shelf" not in sys.modules


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import no_such_module", "fails: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def other(): ...", "fails: AttributeError: module 'broken_shelf' has no attribute 'make'"),
        ("1 +", "fails: SyntaxError"),
        ("make = 3", "names nothing that can be called"),
        ("def make(): ...", "fails: TypeError"),
        ("def make(size): raise ValueError('too wide')", "fails: ValueError: too wide"),
    ],
)
def test_a_broken_one_is_named_with_its_entry_point(install: Install, source: str, problem: str) -> None:
    sys.modules.pop("broken_shelf", None)
    install("broken_shelf", source, {SHELVES.group: {"oak": "broken_shelf:make"}})
    where = r"the shelf oak \(entry point webrag.shelves: oak = broken_shelf:make, of package broken-shelf\) "
    with pytest.raises(PluginError, match=where + problem) as raised:
        SHELVES.find("oak").make(2)
    assert (raised.value.code, raised.value.exit_code) == ("bad_plugin", 2)


def test_an_error_of_ours_stays_what_it_is(install: Install) -> None:
    source = """
        from webrag_core import MissingExtraError
        def make(size): raise MissingExtraError("pip install planks")
    """
    install("honest_shelf", source, {SHELVES.group: {"oak": "honest_shelf:make"}})
    with pytest.raises(InvalidInputError, match=r"^pip install planks$"):
        SHELVES.find("oak").make(2)


def test_two_of_one_name_are_both_named_and_neither_is_imported(install: Install) -> None:
    for name in ("first_shelf", "second_shelf"):
        install(name, "", {SHELVES.group: {"oak": f"{name}:make", name: f"{name}:make"}})
    with pytest.raises(PluginError, match=r"2 packages have a shelf oak: .*first-shelf and .*second-shelf; keep one"):
        SHELVES.find("oak")
    assert SHELVES.check("first_shelf") == "first_shelf"
    assert sorted(SHELVES.plugins()) == ["first_shelf", "second_shelf"]
    assert not {"first_shelf", "second_shelf"} & set(sys.modules)


def test_an_unknown_name_lists_those_that_exist(install: Install) -> None:
    install("good_shelf", "", {SHELVES.group: {"oak": "good_shelf:make"}})
    with pytest.raises(InvalidInputError, match=r"^there is no shelf 'elm'; there are: oak, plain$"):
        SHELVES.check("elm")


def test_no_plugin_takes_the_place_of_a_part_of_the_core(install: Install) -> None:
    install("sly_shelf", "", {SHELVES.group: {"plain": "sly_shelf:make"}})
    assert SHELVES.check("plain") == "plain"
    with pytest.raises(InvalidInputError):
        SHELVES.find("plain")
    assert SHELVES.plugins() == {}


def test_what_plugins_are_written_with_can_be_imported() -> None:
    assert all(getattr(extending, name) is not None for name in extending.__all__)
    with pytest.raises(AttributeError):
        _ = extending.Nothing


def test_the_plugins_of_the_documentation_are_what_it_says(install: Install) -> None:
    text = (REPOSITORY / "docs/plugins.md").read_text(encoding="utf-8")
    code = dict(re.findall(r"```toml\n(.*?)```\n\n```python\n(.*?)```", text, re.DOTALL))
    shown = {name: entry for toml in code for name, entry in tomllib.loads(toml)["project"]["entry-points"].items()}
    assert sorted(shown) == sorted(group.group for group in GROUPS)
    values = [value for entry in shown.values() for value in entry.values()]
    modules = {value.partition(":")[0]: source for value, source in zip(values, code.values(), strict=True)}
    install("my_package", "", shown, modules)
    assert isinstance(make_acquirer(load_settings(webrag_acquirer="mirror")), GuardedAcquirer)
    film = b"1\n00:00:01,000 --> 00:00:04,000\nGreen tea steeps <i>two</i> minutes.\n"
    headers = {"content-type": "application/x-subrip"}
    page = AcquiredPage("https://a.example/", "https://a.example/", 200, headers, film, datetime.now(UTC), len(film))
    assert "Green tea steeps" in convert_page(page).markdown
    reranker = make_reranker(load_settings(reranker_provider="newest"))
    assert reranker is not None
    ranking = asyncio.run(reranker.rerank("keys", ["of 1999", "of 2024", "of old"], term_idf={}))
    assert [row.index for row in ranking.results] == [1, 0, 2]
    assert isinstance(plugins.DOCUMENTS.find("rfc").make(None), AbstractAsyncContextManager)
