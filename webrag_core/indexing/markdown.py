"""Markdown to leaf blocks with code point offsets: what the chunker packs and never cuts without need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

# not str.splitlines(): that also breaks at \x0b, \x0c and U+2028, which are no line ends in Markdown
_LINE_END = re.compile(r"\r\n|\r|\n")
# code, an escaped character, a link or image, emphasis. Underscores go only in pairs around words: __init__ is a name
_INLINE = re.compile(
    r"(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!?\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*+)\]\((?:[^()\\]|\\.|\([^()]*\))*+\)"
    r"|(?<![\w.])_(?P<stressed>[^_\n]+)_(?!\w)"
    r"|[`*]+",
    re.DOTALL,
)
_SPACE = re.compile(r"\s+")
_ADMONITION = re.compile(
    r"^\W*(note|warning|important|tip|caution|danger|hint|attention|see also|deprecated since)\b\W",
    re.IGNORECASE,
)
_MATH = re.compile(r"(?<![\\$\w])\$[^$\n]+\$(?![\w$])|^\s*\$\$", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]]*\]\(")
_MAX_TERM = 120


@dataclass(frozen=True, slots=True)
class Block:
    """One leaf block: whole lines [start, end) of the text, its heading path, its kind and rich-content flags."""

    start: int
    end: int
    heading_path: tuple[str, ...]
    kind: str
    flags: frozenset[str]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").use(deflist_plugin)
    # block structure is all we need: inline parsing is most of the cost
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def plain_text(markdown: str) -> str:
    """One line of Markdown without its marks: link texts stay, URLs, emphasis, escapes and code marks go."""
    return _SPACE.sub(" ", _INLINE.sub(_without_marks, markdown)).strip()


def _without_marks(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match["code"]
    if match["text"] is not None or match["stressed"] is not None:
        return _INLINE.sub(_without_marks, match["text"] or match["stressed"] or "")
    return match["escaped"] or ""


def parse_blocks(text: str) -> list[Block]:
    """Leaf blocks in order. They never overlap, and every non-blank character lies in exactly one.

    A heading is a block of its own, whose path ends in itself; a block in a definition has the term on its path.
    """
    starts = _line_starts(text)
    walker = _Walker(text, starts)
    tokens = _parser().parse(text.replace("\x00", "\ufffd"))
    for token, following in zip_longest(tokens, tokens[1:]):
        walker.visit(token, following.content if following is not None else "")
    return walker.blocks()


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]


class _Walker:
    def __init__(self, text: str, starts: list[int]) -> None:
        self._text = text
        self._starts = starts
        self._headings: list[tuple[int, str]] = []
        self._terms: list[str] = []
        self._containers: list[tuple[str, list[tuple[int, str]]]] = []  # with the headings before them
        self._found: list[tuple[int, int, tuple[str, ...], str, frozenset[str]]] = []
        self._table_start: int | None = None

    def visit(self, token: Token, content: str) -> None:
        """Take in one token; `content` is that of the next one: the text of a heading or term."""
        kind = token.type
        if kind == "table_open" and token.map:
            self._leaf(token.map, "table", {"table"})
            self._table_start = token.map[0]
        elif kind == "table_close":
            self._table_start = None
        elif self._table_start is not None:
            return
        elif kind in ("fence", "code_block") and token.map:
            self._leaf(token.map, "code", {"code"})
        elif kind == "heading_open" and token.map:
            self._heading(token, content)
        elif kind in ("paragraph_open", "html_block", "hr") and token.map:
            self._leaf(token.map, kind.removesuffix("_open"), set())
        elif kind == "dl_open":
            self._enter("definition_list")
            self._terms.append("")
        elif kind == "dl_close":
            self._leave()
            self._terms.pop()
        elif kind == "dt_open" and token.map:
            line = token.map[0]  # the plugin gives terms an empty range
            self._terms[-1] = plain_text(content)[:_MAX_TERM].rstrip()
            self._leaf((line, line + 1), "term", set())
        elif kind == "ordered_list_open":
            self._enter("steps")
        elif kind in ("bullet_list_open", "blockquote_open"):
            self._enter("")
        elif kind in ("ordered_list_close", "bullet_list_close", "blockquote_close"):
            self._leave()

    def _enter(self, flag: str) -> None:
        self._containers.append((flag, list(self._headings)))

    def _leave(self) -> None:
        _, self._headings = self._containers.pop()  # a heading in a list or quotation says nothing about what follows

    def _slice(self, start: int, end: int) -> str:
        return self._text[self._starts[start] : self._starts[min(end, len(self._starts) - 1)]]

    def _path(self) -> tuple[str, ...]:
        return (*(text for _, text in self._headings if text), *(term for term in self._terms if term))

    def _heading(self, token: Token, content: str) -> None:
        assert token.map is not None
        level = int(token.tag[1])
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, plain_text(content)[:_MAX_TERM].rstrip()))
        self._leaf(token.map, "heading", set())

    def _leaf(self, lines: list[int] | tuple[int, int], kind: str, flags: set[str]) -> None:
        text = self._slice(lines[0], lines[1])
        flags = flags | {name for name, _ in self._containers if name}
        if kind == "paragraph":
            if _ADMONITION.match(text):
                flags.add("admonition")
            if _IMAGE.search(text):
                flags.add("image")
            if "$" in text and _MATH.search(text):
                flags.add("math")
        self._found.append((lines[0], lines[1], self._path(), kind, frozenset(flags)))

    def blocks(self) -> list[Block]:
        """Leaves as line ranges that cover every non-blank line: lines between two leaves go to the second."""
        last = len(self._starts) - 1
        blocks: list[Block] = []
        line = 0
        for begin, end, path, kind, flags in self._found:
            end = min(end, last)
            begin = self._first_inked(line, max(begin, line))
            if end > begin:
                blocks.append(Block(self._starts[begin], self._starts[end], path, kind, flags))
                line = end
        rest = self._first_inked(line, last)
        if rest < last:  # e.g. link reference definitions, which are no tokens
            path = self._found[-1][2] if self._found else ()
            blocks.append(Block(self._starts[rest], self._starts[last], path, "other", frozenset()))
        return [trimmed for block in blocks if (trimmed := self._trim(block)) is not None]

    def _first_inked(self, line: int, begin: int) -> int:
        """The first non-blank line in [line, begin), else `begin`."""
        for number in range(line, begin):
            if self._slice(number, number + 1).strip():
                return number
        return begin

    def _trim(self, block: Block) -> Block | None:
        """Blank lines at the end belong to nobody; indentation at the start stays."""
        body = self._text[block.start : block.end]
        kept = len(body.rstrip())
        if not kept:
            return None
        return Block(block.start, block.start + kept, block.heading_path, block.kind, block.flags)
