"""What changed from version to version, in a few words: how many blocks, which facts, under which headings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.corpus.version_texts import version_texts
from webrag_core.history.diff import PageDiff, recent_diff
from webrag_core.history.facts import Fact
from webrag_core.history.models import HistoryPeriod
from webrag_core.recently_used import RecentlyUsed
from webrag_core.text_work import beside_loop

_CHARACTERS = 400_000  # of texts that are compared for one list
_CACHED = 2_000
_HEADINGS = 3


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """Blocks by what became of them (edited, added, removed, moved), kinds of changed facts, and the first headings
    under which something changed."""

    counts: dict[str, int]
    facts: tuple[Fact, ...]
    headings: tuple[str, ...]


_SUMMARIES: RecentlyUsed[tuple[str, str], ChangeSummary] = RecentlyUsed(_CACHED)
"""Of this process, by the hashes of both texts."""


async def change_summaries(
    connection: AsyncConnection, pairs: Sequence[tuple[HistoryPeriod, HistoryPeriod]]
) -> list[ChangeSummary | None]:
    """The summary of each pair (text before, text after). None where a text is not kept, and for the pairs after those
    of 400,000 characters that this process had not compared yet."""
    hashes = [(pair.sha256 or "", other.sha256 or "") for pair, other in pairs]
    ids = [
        version
        for pair, periods in zip(hashes, pairs, strict=True)
        if _SUMMARIES.get(pair) is None
        for version in (period.version_id for period in periods if period.kept)
        if version is not None
    ]
    cursor = await connection.execute("SELECT id, characters FROM document_versions WHERE id = ANY(%s)", (ids,))
    sizes = {int(row[0]): int(row[1] or 0) for row in await cursor.fetchall()}
    chosen, left = [], _CHARACTERS
    for pair, (first, other) in zip(hashes, pairs, strict=True):
        if _SUMMARIES.get(pair) is None and first.version_id in sizes and other.version_id in sizes:
            left -= sizes[first.version_id] + sizes[other.version_id]
            if left < 0:
                break
            chosen.append((pair, first.version_id, other.version_id))
    texts = await version_texts(connection, [version for _, *versions in chosen for version in versions])
    for pair, one_id, other_id in chosen:
        if one_id in texts and other_id in texts:
            diff = await beside_loop(recent_diff, texts[one_id], texts[other_id])
            _SUMMARIES.put(pair, summary_of(diff))
    return [_SUMMARIES.get(pair) for pair in hashes]


def summary_of(diff: PageDiff) -> ChangeSummary:
    """The summary of a comparison."""
    counts = diff.counts()
    headings = dict.fromkeys(change.heading_path[-1] for change in diff.changes if change.heading_path)
    return ChangeSummary(
        counts={kind: counts[kind] for kind in ("edited", "added", "removed", "moved") if counts.get(kind)},
        facts=tuple(diff.facts_changed),
        headings=tuple(headings)[:_HEADINGS],
    )
