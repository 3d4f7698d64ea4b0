"""What a page says becomes edges whose spans are where it says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.indexing.graph.listed import ListedSymbol
from webrag_core.indexing.graph.model import MAX_EDGES, MAX_SYMBOLS, Edge, Extraction
from webrag_core.indexing.graph.names import declared_name, linked_name, referred_name
from webrag_core.indexing.graph.relations import LinkTarget

URL = "https://docs.example/a.html"
OTHER = "https://docs.example/b.html"
FAR = "https://far.example/"
LINKS = {OTHER: LinkTarget(False, False), FAR: LinkTarget(False, False)}


def extract(text: str, links: dict[str, LinkTarget] | None = None) -> Extraction:
    return extract_edges(text, url=URL, source="docs.example", links=LINKS if links is None else links)


def said(text: str, kind: str, links: dict[str, LinkTarget] | None = None) -> list[tuple[str, str]]:
    """(key of the target, quoted span) of every edge of a kind."""
    return [(edge.dst.key, text[edge.start : edge.end]) for edge in extract(text, links).edges if edge.kind == kind]


CLASS = """# Queues

## Queue

`class aio.Queue(maxsize=0)`
:   A first in, first out queue. It calls `get()` often.

    `coroutine get()`
    :   Remove and return an item. See `join()` and `Other.get()`.

        Deprecated since version 3: Use [`aio.take()`](https://docs.example/b.html#aio.take) instead.

    `coroutine join()`
    :   Block until all is done.
"""


def test_nested_definitions_have_qualified_names() -> None:
    names = [key for key, _ in said(CLASS, "defines")]
    assert names == ["docs.example:aio.Queue", "docs.example:aio.Queue.get", "docs.example:aio.Queue.join"]
    assert said(CLASS, "defines")[1][1] == "`coroutine get()`\n    :   Remove and return an item."


def test_what_contains_what() -> None:
    contains = [(edge.src.key, edge.dst.key) for edge in extract(CLASS).edges if edge.kind == "contains"]
    assert contains == [
        (URL, f"{URL}#queues"),
        (f"{URL}#queues", f"{URL}#queues/queue"),
        (f"{URL}#queues/queue", "docs.example:aio.Queue"),
        ("docs.example:aio.Queue", "docs.example:aio.Queue.get"),
        ("docs.example:aio.Queue", "docs.example:aio.Queue.join"),
    ]


def test_names_in_running_text_are_resolved_near_where_they_stand() -> None:
    mentions = said(CLASS, "mentions")
    assert ("docs.example:aio.Queue.get", "It calls `get()` often.") in mentions
    assert ("docs.example:aio.Queue.join", "See `join()` and `Other.get()`.") in mentions
    assert ("docs.example:Other.get", "See `join()` and `Other.get()`.") in mentions
    assert [key for key, _ in mentions if key.endswith("take")] == ["docs.example:aio.take"]  # of the link's fragment


def test_deprecations_name_what_replaces() -> None:
    sentence = "Deprecated since version 3: Use [`aio.take()`](https://docs.example/b.html#aio.take) instead."
    assert said(CLASS, "deprecates") == [("docs.example:aio.Queue.get", sentence)]
    (edge,) = (edge for edge in extract(CLASS).edges if edge.kind == "replaces")
    assert (edge.src.key, edge.dst.key) == ("docs.example:aio.take", "docs.example:aio.Queue.get")


@pytest.mark.parametrize(
    ("text", "deprecated"),
    [
        ("The `imp` module is deprecated in favor of `importlib`.", ["imp"]),
        ("`foo()` is not deprecated.", []),
        ("`DeprecationWarning` is shown.", []),
        ("Deprecated since 3.1: Use `new` instead.", []),  # of what, nothing says
        ("`old` has been deprecated. Use `new`.", ["old"]),
    ],
)
def test_what_is_deprecated(text: str, deprecated: list[str]) -> None:
    assert [key for key, _ in said(f"# A page\n\n{text}\n", "deprecates")] == [
        f"docs.example:{one}" for one in deprecated
    ]


def test_a_deprecated_parameter_deprecates_in_part() -> None:
    text = "# P\n\n`run(loop)`\n:   Run.\n\n    Deprecated since version 3: The *loop* parameter.\n"
    (edge,) = (edge for edge in extract(text).edges if edge.kind == "deprecates")
    assert (edge.origin, edge.strength) == ("inferred", 0.5)


def test_links_stand_in_their_sentence_and_weigh_less_on_a_page_of_links() -> None:
    text = f"# A\n\nFirst. It uses [the other]({OTHER}#x) and [far]({FAR}). Last.\n"
    sentence = f"It uses [the other]({OTHER}#x) and [far]({FAR})."
    assert said(text, "links_to") == [(OTHER, sentence), (FAR, sentence)]
    one = extract(f"# A\n\n[the other]({OTHER})\n").edges[-1]
    two = next(edge for edge in extract(text).edges if edge.kind == "links_to")
    assert one.strength == 1.0 > two.strength
    assert two.label == "the other"


def test_links_that_are_no_candidates_are_no_edges() -> None:
    text = f"# A\n\n[the other]({OTHER}) and [far]({FAR}).\n"
    assert said(text, "links_to", {}) == []
    assert said(text, "links_to", {OTHER: LinkTarget(False, True)}) == []  # nofollow
    navigation = {OTHER: LinkTarget(True, False), FAR: LinkTarget(False, False)}
    weights = {edge.dst.key: edge.strength for edge in extract(text, navigation).edges if edge.kind == "links_to"}
    assert weights[OTHER] < weights[FAR] / 10


@pytest.mark.parametrize(
    "text",
    [
        f"See also\n\n- [the other]({OTHER}) is good.\n\nText.\n",
        f"## See also\n\n[the other]({OTHER})\n",
        f"Text. See also [the other]({OTHER}).\n",
    ],
)
def test_see_also_recommends(text: str) -> None:
    page = f"# A\n\n{text}\nAnd [far]({FAR}).\n" if "##" not in text else f"# A\n\nAnd [far]({FAR}).\n\n{text}"
    assert [key for key, _ in said(page, "see_also")] == [OTHER]
    assert [key for key, _ in said(page, "links_to")] == [FAR]


def test_terms_of_a_glossary_and_their_mentions() -> None:
    text = f"# Glossary\n\nevent loop\n:   What runs [coroutines]({OTHER}#term-coroutine).\n"
    assert said(text, "defines") == [
        ("event loop", "event loop\n:   What runs [coroutines](" + OTHER + "#term-coroutine).")
    ]
    assert [key for key, _ in said(text, "mentions")] == ["coroutin"]


def test_a_section_that_says_what_its_heading_is_defines_it() -> None:
    text = "# Virtual hosts\n\nA virtual host is an association of a name with a server. More.\n"
    (edge,) = (edge for edge in extract(text).edges if edge.kind == "defines")
    assert (edge.dst.key, edge.origin) == ("virtual host", "inferred")
    assert said("# Virtual hosts\n\nA server is a program.\n", "defines") == []


def test_parameters_are_named_after_their_command() -> None:
    text = (
        "## CREATE INDEX\n\nText.\n\n## Parameters\n\n`UNIQUE`\n:   No doubles.\n\n`fill` (`integer`)\n:   How full.\n"
    )
    assert [key.partition(":")[2] for key, _ in said(text, "defines")] == [
        "CREATE INDEX",
        "CREATE INDEX UNIQUE",
        "CREATE INDEX fill",
    ]


def test_equal_headings_are_two_sections_and_a_note_is_none() -> None:
    text = "# A\n\n## Same\n\nx\n\n## Same\n\ny\n\n`f()`\n:   Does.\n\n    ### Note\n\n    Take care of `go()`.\n"
    edges = extract(text).edges
    sections = [edge.dst.key.partition("#")[2] for edge in edges if edge.dst.kind == "section"]
    assert sections == ["a", "a/same", "a/same~2"]
    assert {edge.place.key for edge in edges if edge.kind == "mentions"} == {f"{URL}#a/same~2"}


def test_members_get_the_module_that_a_page_leaves_out() -> None:
    text = (
        "# `paths` — Paths\n\n`class paths.Path()`\n:   A path.\n\n`Path.walk()`\n:   Walk.\n\n`Other.go()`\n:   Go.\n"
    )
    names = [key.partition(":")[2] for key, _ in said(text, "defines")]
    assert names == ["paths", "paths.Path", "paths.Path.walk", "Other.go"]


def test_titles_of_boxes_are_no_sections() -> None:
    text = "# A\n\n#### B\n\n### Note\n\nx\n\n#### C\n\n### Notes\n\ny\n"
    sections = [edge.dst.key.partition("#")[2] for edge in extract(text).edges if edge.dst.kind == "section"]
    assert sections == ["a", "a/b", "a/c", "a/notes"]


def test_what_a_see_also_list_of_terms_names_is_linked_and_not_defined() -> None:
    text = f"# A\n\nText.\n\nSee also\n\nModule [`bee`]({OTHER}#module-bee)\n:   Does it too.\n"
    assert said(text, "defines") == []
    assert [key for key, _ in said(text, "see_also")] == [OTHER]
    assert [key for key, _ in said(text, "mentions")] == ["docs.example:bee"]


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("class asyncio.Queue(maxsize=0)", "asyncio.Queue"),
        ("PyObject *PyList_New(Py_ssize_t len)", "PyList_New"),
        ("coroutine get()", "get"),
        ("Queue.maxsize: int = 3", "Queue.maxsize"),
        ("pub fn push<T>(&mut self)", "push"),
        ("std::vec::Vec", "std::vec::Vec"),
        ("-m <module>", "-m"),
        ("CREATE INDEX", "CREATE INDEX"),
        ("@functools.cache", "functools.cache"),
        ("x + y", None),
        ("this is a whole sentence and no signature", None),
        ("'r'", None),
        ("", None),
    ],
)
def test_declared_names(signature: str, name: str | None) -> None:
    assert declared_name(signature) == name


def test_referred_names() -> None:
    assert referred_name("await put()") == ("put", True)
    assert referred_name("asyncio.Queue") == ("asyncio.Queue", False)
    assert [referred_name(text) for text in ("None", "x", "a b", "1.5", "f(g(x))")] == [None] * 5
    assert linked_name("get", "asyncio.Queue.get") == "asyncio.Queue.get"
    assert linked_name("queue.get", "asyncio.Queue.get") == "asyncio.Queue.get"
    assert linked_name("queue", "module-queue") == "queue"
    assert linked_name("get", "target") == "get"


def check(text: str, edges: list[Edge]) -> None:
    """What holds of all edges."""
    for edge in edges:
        assert 0 <= edge.start < edge.end <= len(text)
        assert text[edge.start : edge.end].strip()
        assert 0 < edge.strength <= 1
    identities = [(edge.src.key, edge.kind, edge.dst.key, edge.place.key) for edge in edges]
    assert len(set(identities)) == len(identities)


MARKS = ["```", ":   ", "> ", "\u2028", "é", "[", "](", "`", "|", "- ", "    ", "\n\n"]
PHRASES = ["# H\n\n", "## `ff()`\n\n", "`gg(x)`\n:   ", f"[`a.b`]({OTHER}#a.b)", "`hh`", "See also", " is a ", "text. "]
WORDS = st.sampled_from([*MARKS, *PHRASES, "Deprecated since 3: Use `new`."])


@given(st.lists(WORDS, max_size=60).map("".join))
def test_any_text_has_valid_edges_and_the_same_every_time(text: str) -> None:
    extraction = extract(text)
    check(text, extraction.edges)
    assert extract(text) == extraction


HOSTILE: dict[str, Callable[[], str]] = {
    "definitions": lambda: "# A\n\n" + "".join(f"`f{n}()`\n:   Does {n}.\n\n" for n in range(25_000)),
    "mentions": lambda: "# A\n\n" + "".join(f"## S{n}\n\n`f{n}()` and `g{n}()`.\n\n" for n in range(20_000)),
    "one paragraph": lambda: "# A\n\n" + "Call `go()` now. " * 60_000,
    "brackets": lambda: "# A\n\n" + "[a" * 300_000 + "`",
    "ticks": lambda: "# A\n\n" + "` `` " * 200_000,
    "deprecations": lambda: "# A\n\n" + "`old` is deprecated. " * 40_000,
    "one name": lambda: "# A\n\n" + "".join(f"`a{n}.go()`\n:   Calls `go()`.\n\n" for n in range(3_000)),
    "deep names": lambda: "# A\n\n`" + "a." * 70 + "b()`\n:   " + "`go()` " * 30_000,
    "long heading": lambda: "# " + "word " * 100_000 + "\n\n`f()`\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_bounded(name: str) -> None:
    text = HOSTILE[name]()
    extraction = extract(text)
    assert len(extraction.edges) <= MAX_EDGES
    check(text, extraction.edges)
    if name == "definitions":
        assert extraction.reason == "too_many_symbols"
        assert sum(edge.kind == "defines" for edge in extraction.edges) <= MAX_SYMBOLS
    if name == "mentions":
        assert extraction.reason == "too_many_edges"


SIGNATURES = """# Types

`class ModuleSpec(name)`

`name`
:   Of the module.

`get()`, `put()`
:   Both of them.

## Constants

`RAW`, of a kind
:   The raw one.
"""


def test_symbols_of_an_inventory_stand_where_their_ids_do() -> None:
    def end(text: str) -> int:
        return SIGNATURES.index(text) + len(text)

    anchors = {
        "m": end("# Types"),
        "m.ModuleSpec": end("ModuleSpec(name)`"),
        "m.ModuleSpec.name": end("`name`"),
        "q.get": end("`get()`"),
        "q.put": end("`put()`"),
        "m.RAW": end("`RAW`, of a kind"),
    }
    symbols = [ListedSymbol(name, name) for name in anchors] + [ListedSymbol("m.Nowhere", "gone")]
    extraction = extract_edges(
        SIGNATURES,
        url=URL,
        source="docs.example",
        links={},
        markup=PageMarkup(anchors=tuple(anchors.items())),
        symbols=symbols,
    )
    check(SIGNATURES, extraction.edges)
    defined = {
        edge.dst.label: edge for edge in extraction.edges if edge.kind == "defines" and edge.dst.kind == "symbol"
    }
    assert defined.keys() == anchors.keys()
    spans = {name: SIGNATURES[edge.start : edge.end] for name, edge in defined.items()}
    assert spans["m"] == "# Types"
    assert spans["m.ModuleSpec"] == "`class ModuleSpec(name)`"
    assert spans["q.put"] == "`get()`, `put()`\n:   Both of them."
    assert defined["m.RAW"].place.label == "Constants"
    assert all(edge.origin == "explicit" for edge in defined.values())


def test_without_ids_a_symbol_of_an_inventory_is_found_by_its_name() -> None:
    def defined(*names: str) -> set[str]:
        symbols = [ListedSymbol(name, name) for name in names]
        edges = extract_edges(CLASS, url=URL, source="docs.example", links={}, symbols=symbols).edges
        return {edge.dst.label for edge in edges if edge.kind == "defines" and edge.dst.kind == "symbol"}

    plain = defined()
    name = min(plain, key=len)
    assert f"whole.{name}" in defined(f"whole.{name}")
    assert defined(f"one.{name}", f"two.{name}") == plain  # which of them, nothing says


def test_an_inventory_with_hostile_names_changes_nothing_else() -> None:
    symbols = [ListedSymbol(name, "") for name in ("", "x" * 5_000, "..", "::", " ", "a\nb", "%s", "{0}", ".get")]
    many = [ListedSymbol(f"m.f{number}", f"i{number}") for number in range(50_000)]
    markup = PageMarkup(anchors=tuple((f"i{number}", 3) for number in range(5_000)))
    extraction = extract_edges(CLASS, url=URL, source="s", links={}, symbols=symbols + many, markup=markup)
    check(CLASS, extraction.edges)
    assert extraction.reason == "too_many_symbols"


def test_an_address_that_is_too_long_has_a_reason() -> None:
    long = "https://docs.example/" + "a" * 3_000
    extraction = extract_edges(CLASS, url=long, source="docs.example", links={})
    assert (extraction.edges, extraction.reason) == ([], "address_too_long")
    text = f"# A\n\n[x]({long})\n"
    assert said(text, "links_to", {long: LinkTarget(False, False)}) == []
