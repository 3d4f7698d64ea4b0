"""docs/images/architecture.svg: the parts and the way of a question through them, in light and dark.

An SVG with its own background and no script, font or address: it looks the same on a code host and from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 980, 500
STYLE = """
svg { --back: #ffffff; --panel: #f5f7fa; --box: #ffffff; --line: #c3ccd8; --ink: #1b2633; --soft: #56657a;
  --accent: #1f6feb; --store: #e9f2ff; --proof: #18794e; }
@media (prefers-color-scheme: dark) {
  svg { --back: #12161c; --panel: #1a2029; --box: #232b36; --line: #44505f; --ink: #e8edf3; --soft: #a3b0c0;
    --accent: #6cabff; --store: #17283f; --proof: #5cc79a; }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--ink);
  text-anchor: middle; }
.name { font-weight: 650; font-size: 15px; }
.soft { fill: var(--soft); font-size: 12.5px; }
.left { text-anchor: start; }
.back { fill: var(--back); }
.panel { fill: var(--panel); stroke: var(--line); }
.box { fill: var(--box); stroke: var(--line); }
.store { fill: var(--store); stroke: var(--accent); }
.proof { fill: var(--box); stroke: var(--proof); stroke-width: 2; }
.way { fill: none; stroke: var(--soft); stroke-width: 1.6; marker-end: url(#soft-head); }
.both { marker-start: url(#soft-head); }
.again { fill: none; stroke: var(--accent); stroke-width: 2; marker-end: url(#accent-head); }
.accent { fill: var(--accent); font-weight: 600; }
.heads { fill: var(--soft); }
.heads-accent { fill: var(--accent); }
""".strip()
HEADS = """<defs>
<marker id="soft-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
<path class="heads" d="M0 0 8 4 0 8z"/></marker>
<marker id="accent-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
<path class="heads-accent" d="M0 0 8 4 0 8z"/></marker>
</defs>"""
DESCRIPTION = (
    "A question comes in by web page, command line, Python, MCP or the Dagster UI. A loop acquires pages through"
    " one network gate, converts them to Markdown in sandboxed workers, searches, and judges whether the evidence"
    " is enough; if not, it looks ahead and reads the best page. Everything is stored in PostgreSQL with pgvector."
    " What comes out are quotes and sentences, each proved from the stored version of its page. Dagster keeps"
    " sources fresh, checks invariants and measures decisions."
)


@dataclass(frozen=True)
class Box:
    """A named rectangle with lines of explanation; x, y, width and height in pixels."""

    name: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    kind: str = "box"

    @property
    def middle(self) -> float:
        """x of its centre."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """y of its lower edge."""
        return self.y + self.height

    def svg(self) -> str:
        """The rectangle and its text."""
        first = self.y + self.height / 2 - 8.5 * len(self.lines) + 5
        size = f'width="{self.width}" height="{self.height}"'
        return "\n".join(
            [
                f'<rect class="{self.kind}" x="{self.x}" y="{self.y}" {size} rx="9"/>',
                _text(self.middle, first, self.name, "name"),
                *(_text(self.middle, first + 18 + 17 * row, line, "soft") for row, line in enumerate(self.lines)),
            ]
        )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _way(path: str, kind: str = "way") -> str:
    return f'<path class="{kind}" d="{path}"/>'


def drawing() -> str:
    """The picture as SVG."""
    steps = [
        Box(name, lines, 126 + 149.5 * place, 146, 130, 92)
        for place, (name, lines) in enumerate(
            [
                ("Acquire", ("one network gate,", "robots.txt, limits")),
                ("Convert", ("in a sandbox, to", "Markdown, offsets")),
                ("Search", ("BM25 and vectors,", "reranker, reader")),
                ("Judge", ("stop policy: is the", "evidence enough?")),
                ("Compose", ("quotes, sentences", "of the pages")),
            ]
        )
    ]
    acquire, convert, search, judge, compose = steps
    web = Box("Web", ("pages,", "files,", "archives"), 12, 146, 80, 92)
    answer = Box("Answer", ("each quote", "proved, or", "no answer"), 888, 146, 82, 92, "proof")
    store = Box(
        "PostgreSQL + pgvector",
        ("versions of pages · chunks with offsets · vectors · postings · graph · ledger · answers with their proofs",),
        112,
        344,
        756,
        66,
        "store",
    )
    platform = Box(
        "Dagster",
        ("keeps sources fresh · checks every invariant · measures the decisions on frozen sites",),
        112,
        426,
        756,
        58,
    )
    entrances = [
        Box(name, (), 112 + 154 * place, 18, 140, 34)
        for place, name in enumerate(["Page, REST", "Command line", "Python", "MCP server", "Dagster UI"])
    ]
    row = acquire.y + acquire.height / 2
    parts = [
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" rx="12"/>',
        '<rect class="panel" x="112" y="84" width="756" height="218" rx="14"/>',
        _text(128, 110, "The loop", "name left"),
        _text(128, 129, "a plan says what is searched, and whether pages are read at all", "soft left"),
        *(box.svg() for box in (*entrances, web, *steps, answer, store, platform)),
        _way("M490 56V80"),
        _text(500, 73, "question, start pages", "soft left"),
        _way(f"M94 {row}H{acquire.x - 3}"),
        *(_way(f"M{a.x + a.width + 2} {row}H{b.x - 3}") for a, b in pairwise(steps)),
        _way(f"M{compose.x + compose.width + 2} {row}H{answer.x - 3}"),
        _way(f"M{judge.middle} {judge.bottom + 2}V272H{acquire.middle}V{acquire.bottom + 5}", "again"),
        _text((acquire.middle + judge.middle) / 2, 264, "not yet: look ahead, then read the best page", "accent"),
        _way(f"M{convert.middle} 304V{store.y - 4}"),
        _way(f"M{search.middle} {store.y - 4}V306", "way"),
        _way(f"M{compose.middle} {store.y - 4}V306", "way"),
        _text(convert.middle + 9, 327, "write", "soft left"),
        _text(search.middle + 9, 327, "read", "soft left"),
        _text(compose.middle + 9, 327, "prove", "soft left"),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' role="img">'
    )
    return "\n".join(
        [
            head,
            "<title>How WebRAG answers</title>",
            f"<desc>{escape(DESCRIPTION)}</desc>",
            f"<style>\n{STYLE}\n</style>",
            HEADS,
            *parts,
            "</svg>\n",
        ]
    )
