"""The pages of a run as a tree: each below the page that its link stands on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from webrag_core.orchestration.models import RunDocument


def page_tree(documents: Sequence[RunDocument], parents: Mapping[str, str], notes: Mapping[str, str]) -> list[str]:
    """One line per page, its note: start pages at the margin, others below the nearest page of `documents` that leads
    to them, in the order of `documents`. Each page stands there once.

    `parents` says by URL which page a link was found on; pages that were only looked at are passed over. What no shown
    page leads to stands below the first start page.
    """
    roots = list(dict.fromkeys(document.url for document in documents if document.link_depth == 0))
    below: dict[str, list[str]] = {}
    for url in dict.fromkeys(document.url for document in documents if document.link_depth > 0):
        if url not in roots:
            below.setdefault(_above(url, parents, notes, roots), []).append(url)
    lines: list[str] = []

    def draw(url: str, indent: str) -> None:
        children = below.pop(url, [])
        for number, child in enumerate(children, start=1):
            last = number == len(children)
            lines.append(f"{indent}{'└── ' if last else '├── '}{notes[child]}")
            draw(child, f"{indent}{'    ' if last else '│   '}")

    for root in roots:
        lines.append(notes[root])
        draw(root, "")
    while below:  # pages that lead to each other, and to which no other leads
        start = next(iter(below))
        lines.append(notes.get(start, ""))
        _take_out(start, below)
        draw(start, "")
    return list(filter(None, lines))


def _take_out(url: str, below: Mapping[str, list[str]]) -> None:
    for children in below.values():
        if url in children:
            children.remove(url)


def _above(url: str, parents: Mapping[str, str], shown: Collection[str], roots: Sequence[str]) -> str:
    """The nearest page that leads to `url` and is shown, else the first start page."""
    passed = {url}
    place = url
    while (parent := parents.get(place)) is not None and parent not in passed:
        if parent in shown:
            return parent
        passed.add(parent)
        place = parent
    return roots[0] if roots else ""
