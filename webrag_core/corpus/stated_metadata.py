"""Times that a page's structured data (JSON-LD, schema.org) states about it. Pure.

Only top-level nodes that are the page's text itself count: a `validFrom` of an offer is about a price, a
`temporalCoverage` of anything but a law is about its subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.corpus.stated_dates import Statement, after
from webrag_core.corpus.validity_phrases import ValidityKind

_TEXTS = re.compile(r"(?:Article|Posting|(?<!\w)Report|WebPage|CreativeWork|DigitalDocument|Legislation\w*)\Z")
_LAWS = re.compile(r"Legislation\w*\Z")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?\Z", re.ASCII)
_MOST_NODES = 100


def top_nodes(markup: PageMarkup) -> list[dict[str, object]]:
    """The nodes that stand in no other node, each with its texts by name (of several, the first)."""
    return [
        {
            **{name: value for name, value in reversed(node.properties) if isinstance(value, str)},
            "@type": list(node.types),
        }
        for node in markup.nodes
        if node.top
    ]


def metadata_statements(nodes: Sequence[Mapping[str, Any]]) -> list[Statement]:
    """The statements of these top-level nodes, as parsed. A kind that two nodes state differently is left out.

    A `legislationDateVersion` is a day on which the text holds: it says nothing of other days.
    """
    results: dict[ValidityKind, set[Statement]] = {}
    for node in nodes[:_MOST_NODES]:
        if _is_a(node, _TEXTS):
            for item in _of_node(node):
                results.setdefault(item.kind, set()).add(item)
    return [next(iter(statements)) for statements in results.values() if len(statements) == 1]


def _of_node(node: Mapping[str, Any]) -> Iterator[Statement]:
    is_law = _is_a(node, _LAWS)
    start, end = _day(node.get("validFrom")), _day(node.get("validThrough"))
    if is_law and start is None and end is None:
        start, end = _interval(node.get("temporalCoverage"))
    version = _day(node.get("legislationDateVersion")) if is_law else None
    if start is None and end is None and version is not None:
        start = end = version
    if (start is not None or end is not None) and (start is None or end is None or start <= end):
        yield Statement("in_force", start, None if end is None else after(end), "metadata")
    applicable = _day(node.get("legislationDateOfApplicability")) if is_law else None
    if applicable is not None:
        yield Statement("applicable", applicable, None, "metadata")


def _is_a(node: Mapping[str, Any], types: re.Pattern[str]) -> bool:
    kind = node.get("@type")
    return any(isinstance(item, str) and types.search(item) for item in (kind if isinstance(kind, list) else [kind]))


def _interval(value: object) -> tuple[date | None, date | None]:
    """The days of an interval of ISO 8601, an open end as `..` or nothing; (None, None) for anything else."""
    if not isinstance(value, str):
        return None, None
    first, slash, last = value.strip().partition("/")
    start, end = _day(first), _day(last)
    if not slash or (start is None and first not in ("", "..")) or (end is None and last not in ("", "..")):
        return None, None
    return start, end


def _day(value: object) -> date | None:
    match = _DAY.match(value.strip()) if isinstance(value, str) else None
    try:
        return None if match is None else date.fromisoformat(match[1])
    except ValueError:
        return None
