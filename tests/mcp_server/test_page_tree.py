"""The tree of pages: every page once, below the page that leads to it, whatever the links say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webrag_core.mcp_server.page_tree import page_tree
from webrag_core.orchestration.models import RunDocument


def document(number: int, depth: int) -> RunDocument:
    return RunDocument(url=f"u{number}", document_id=number, round=0, link_depth=depth, outcome="fetched")


def test_pages_stand_below_the_page_that_leads_to_them() -> None:
    documents = [document(0, 0), document(1, 1), document(2, 2), document(3, 1), document(4, 3), document(5, 0)]
    parents = {"u1": "u0", "u2": "u1", "u3": "u0", "u4": "only looked at", "only looked at": "u2"}
    assert page_tree(documents, parents, {one.url: one.url for one in documents}) == [
        "u0",
        "├── u1",
        "│   └── u2",
        "│       └── u4",
        "└── u3",
        "u5",
    ]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12),
    st.dictionaries(st.integers(0, 12), st.integers(0, 12), max_size=12),
)
def test_every_page_stands_there_once_whatever_leads_to_what(
    rows: list[tuple[int, int]], links: dict[int, int]
) -> None:
    documents = [document(number, depth) for number, depth in rows]
    parents = {f"u{child}": f"u{parent}" for child, parent in links.items()}
    lines = page_tree(documents, parents, {one.url: one.url for one in documents})
    assert sorted(line.lstrip("│├└─ ") for line in lines) == sorted({one.url for one in documents})
