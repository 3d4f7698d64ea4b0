"""What changed on the pages of a refresh, as Markdown for the UI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg import AsyncConnection

from webrag_dagster.markdown import block, code, link

if TYPE_CHECKING:
    from webrag_dagster.corpus.refreshing import PageChange

_PAGES = 20
_LINES = 40  # of a page's changes


def compare_command(url: str, before: str | int, after: str | int) -> str:
    """The command that writes two versions of a page side by side."""
    return f"webrag history {url} --diff {before} {after} --html diff.html"


async def changed_pages_markdown(connection: AsyncConnection, changes: Sequence[PageChange]) -> str | None:
    """The changes of each changed page between its last two texts, at most `_PAGES`; None when no page changed."""
    from webrag_core.history.compare import compare
    from webrag_core.history.pages import seen_history

    changed = [change for change in changes if change.change == "changed"]
    lines: list[str] = []
    for change in changed[:_PAGES]:
        lines += [f"### {link(change.title or change.url, change.url)}", ""]
        pair = (await seen_history(connection, change.url)).last_two()
        if pair is None:
            lines += ["*The text before this one is no longer kept.*", ""]
            continue
        difference = (await compare(connection, change.url, *pair)).unified().splitlines()
        lines += [block("\n".join(difference[:_LINES])), ""]
        if len(difference) > _LINES:
            lines += [f"*{len(difference) - _LINES} more lines.*", ""]
        before, after = pair
        lines += [f"Side by side: {code(compare_command(change.url, before, after))}", ""]
    if len(changed) > _PAGES:
        lines += [f"*{len(changed) - _PAGES} more pages changed; `webrag history SOURCE --changes` lists them.*", ""]
    return "\n".join(lines).rstrip() or None
