"""How the processor time of what reads foreign text grows: each case at a length, and at twice that length.

The texts are what a careless reader takes quadratic time for: questions, tables, Markdown, scripts of data. Prints one
JSON line for each, with the processor seconds at both lengths and their ratio (2 is linear, 4 is quadratic). Exit code
1 when a ratio is above 3 although the longer text took more than a fifth of a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from webrag_core.conversion.html import convert_html
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.retrieval.tables.parsing import all_tables
from webrag_core.retrieval.tables.scoring import Candidate, best_cells
from webrag_core.routing.intents import intent_of, names_in
from webrag_core.routing.question_dates import as_of, since_of, until_of

LARGEST_RATIO, LEAST_SECONDS = 3.0, 0.2
URL = "https://docs.example/page"


def read_question(text: str) -> None:
    """Read the words of a question: what it is about, which names, which dates."""
    now = datetime.now(UTC)
    intent_of(text)
    names_in(text)
    for read in (since_of, until_of, as_of):
        read(text, now)


def read_tables(text: str) -> None:
    """Parse the tables of a page and find the best cells."""
    best_cells("what is the value of b", {}, [Candidate(text, table, "", 0.5) for table in all_tables(text)], 5)


def read_statements(text: str) -> None:
    """Extract the statements of a page."""
    extract_edges(text, url=URL, source="docs.example", links={})


def read_script(text: str) -> None:
    """Convert a page with a script of data."""
    html = f'<html><head><script type="application/ld+json">{text}</script></head><body><p>Words.</p></body></html>'
    convert_html(html.encode(), url=URL)


def table_around(inside: str) -> str:
    """A table whose cell is the text, and the text outside of tables."""
    bars = "| --- " * (inside.count("|") + 3)
    return f"| {inside} | b | c |\n{bars}|\n| {inside} | 1 | 2 |\n\n{inside}\n:   {inside}\n"


CASES: dict[str, tuple[Callable[[str], None], Callable[[int], str], int]] = {
    **{
        f"question of {piece!r}": (read_question, lambda n, piece=piece: (piece * n)[:n], 100_000)  # type: ignore[misc]
        for piece in (":", ".", "aA", "-", "aA:", "'", "(", "since ", "up to ", "was in ", "list the all ", "who uses ")
    },
    **{
        f"table of {piece!r}": (read_tables, lambda n, piece=piece: table_around(piece * n), 25_000)  # type: ignore[misc]
        for piece in ("`", "[", "(a", "- ", "|", "*", "x ")
    },
    "one paragraph of code": (read_statements, lambda n: "# A\n\n" + "Call `go()` now. " * n, 30_000),
    "brackets": (read_statements, lambda n: "# A\n\n" + "[a" * n + "`", 150_000),
    "ticks": (read_statements, lambda n: "# A\n\n" + "` `` " * n, 100_000),
    "definitions": (
        read_statements,
        lambda n: "# A\n\n" + "".join(f"`a{i}.go()`\n:   `go()`.\n\n" for i in range(n)),
        1_500,
    ),
    "names of many parts": (read_statements, lambda n: "# A\n\n`" + "a." * 70 + "b()`\n:   " + "`go()` " * n, 15_000),
    "script of lists": (read_script, lambda n: '{"name": "A", "b": ' + "[" * n + "]" * n + "}", 50_000),
    "script of types": (read_script, lambda n: '{"@type": ["' + '","'.join(f"T{i}" for i in range(n)) + '"]}', 20_000),
}


def seconds(work: Callable[[str], None], text: str) -> float:
    """Processor seconds, the least of three tries."""

    def once() -> float:
        begun = time.process_time()
        work(text)
        return time.process_time() - begun

    return min(once() for _ in range(3))


def main() -> int:
    """Print a line for each case; 1 when one grows faster than its text."""
    failed = False
    for name, (work, made, length) in CASES.items():
        shorter, longer = (seconds(work, made(times * length)) for times in (1, 2))
        ratio = longer / max(shorter, 1e-3)
        grows = ratio > LARGEST_RATIO and longer > LEAST_SECONDS
        failed = failed or grows
        line = {"case": name, "seconds": round(shorter, 3), "twice": round(longer, 3), "ratio": round(ratio, 2)}
        print(json.dumps({**line, "ok": not grows}), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
