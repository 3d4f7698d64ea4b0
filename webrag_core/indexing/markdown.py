"""Markdown to leaf blocks with code point offsets: what the chunker packs and never cuts without need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the parser is loaded for the first page that is indexed: those who search need none
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

# not str.splitlines(): that also breaks at \x0b, \x0c and U+2028, which are no line ends in Markdown
_LINE_END = re.compile(r"\r\n|\r|\n")
# code, an escaped character, a link or image, emphasis. Underscores go only in pairs around words: __init__ is a name
_INLINE = re.compile(
    r"(?=[`\\!\[_*])(?:"  # the first characters of what follows: most places are passed at once
    r"(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!?\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*+)\]\((?:[^()\\]|\\.|\([^()]*\))*+\)"
    r"|(?<![\w.])_(?P<stressed>[^_\n]+)_(?!\w)"
    r"|`+|\*+)",
    re.DOTALL,
)
_STAR = "\ud800"  # an asterisk outside code: no stored text can hold a lone surrogate
_STARS = re.compile(f"{_STAR}+")
_ADMONITION = re.compile(
    r"^\W{0,20}(note|warning|important|tip|caution|danger|hint|attention|see also|deprecated since)\b\W",
    re.IGNORECASE,
)
_MATH = re.compile(r"(?<![\\$\w])\$[^$\n]+\$(?![\w$])|^[ \t]*\$\$", re.MULTILINE)
_IMAGE = re.compile(
    r"!\[[^\[\]]*\]\("
)  # stops at the next bracket, so that a page of them costs no more than its length
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENOUGH_WORDS = 4  # beside its links, from which on a line counts as text
_LABELLED = re.compile(r"\W*[^\W\d_][^\n:]{1,40}:[^\n\d]{0,40}\d")
"""A label with a number behind it: `Price: 60 EUR`."""
_MAX_TERM = 120
_MAX_READ = 2_000  # of a heading or term: what `_INLINE` costs grows faster than its text


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
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").use(deflist_plugin)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return parser  # only its rules for blocks are run: inline parsing is most of the cost


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The library's rule without its cells: three tokens for each of them would make a page of 20 MB one of 10 GB."""
    from markdown_it.rules_block import table

    if not table(state, start, end, True):
        return False
    if silent:
        return True
    endings = state.md.block.ruler.getRules("blockquote")
    opened = state.push("table_open", "table", 1)
    line = start + 2
    while line < end and state.sCount[line] >= state.blkIndent and not state.isEmpty(line):
        if state.is_code_block(line) or any(ending(state, line, end, True) for ending in endings):
            break
        line += 1
    opened.map = [start, line]
    state.push("table_close", "table", -1)
    state.line = line
    return True


def plain_text(markdown: str) -> str:
    """One line of Markdown without its marks: link texts stay, URLs, emphasis, escapes and code marks go."""
    return " ".join(_INLINE.sub(_without_marks, markdown).split())


def faithful_text(markdown: str) -> str:
    """As `plain_text`, but an asterisk goes only where a pair of them marks emphasis around whole words: those of a
    formula (`1.5*$size`), a product or a name (`**kwargs`) stay, and so does a backtick that opens no code. What is
    said and proved is read so."""
    text = _INLINE.sub(partial(_without_marks, star=_STAR), markdown)
    runs = list(_STARS.finditer(text))
    left = [len(run[0]) for run in runs]  # asterisks of each that mark nothing, so far
    opened: list[int] = []
    for number, run in enumerate(runs):
        before, after = text[run.start() - 1 : run.start()] or " ", text[run.end() : run.end() + 1] or " "
        if not before.isspace() and not _is_word(after):
            while opened and left[number]:
                pairs = min(left[opened[-1]], left[number])
                left[number] -= pairs
                left[opened[-1]] -= pairs
                if not left[opened[-1]]:
                    opened.pop()
        if left[number] and not after.isspace() and not _is_word(before):
            opened.append(number)
    stars = iter(left)
    return " ".join(_STARS.sub(lambda run: "*" * next(stars), text).split())


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def without_link_lines(markdown: str) -> str:
    """The lines that say something beside their links, without a name above several such lines: a table of contents
    promises answers and gives none."""
    lines = markdown.splitlines()
    links = [_only_links(line) for line in lines]
    return "\n".join(
        line
        for place, line in enumerate(lines)
        if not (links[place] or (links[place + 1 : place + 3] == [True, True] and _is_first_name(lines, place)))
    )


def says_beside_links(line: str) -> bool:
    """Whether a word stands beside the links of a line: "Choose [Insert - Footnote](…)"."""
    return _WORD.search(_LINK.sub("", line)) is not None


def _is_first_name(lines: Sequence[str], place: int) -> bool:
    """Whether a line is the first of its paragraph, no heading, and a few words alone."""
    is_first = place == 0 or not lines[place - 1].strip()
    return is_first and not lines[place].startswith("#") and 0 < len(_WORD.findall(lines[place])) < _ENOUGH_WORDS


def _only_links(line: str) -> bool:
    """Whether a line is links, with less than a few words and no labelled value beside them."""
    rest, links = _LINK.subn("", line)
    return links > 0 and len(_WORD.findall(rest)) < _ENOUGH_WORDS and _LABELLED.match(rest) is None


def _without_marks(match: re.Match[str], star: str = "") -> str:
    """What stays of a mark; `star` in place of each asterisk that is none of code."""
    if match["code"] is not None:
        return match["code"]
    if match["text"] is not None or match["stressed"] is not None:
        return _INLINE.sub(partial(_without_marks, star=star), match["text"] or match["stressed"] or "")
    if match[0][0] == "`":
        return match[0] if star else ""
    return match["escaped"] or star * match[0].count("*")


def parse_blocks(text: str) -> list[Block]:
    """Leaf blocks in order. They never overlap, and every non-blank character lies in exactly one.

    A heading is a block of its own, whose path ends in itself; a block in a definition has the term on its path.
    """
    walker = _Walker(text, _line_starts(text))
    source = _LINE_END.sub("\n", text.replace("\x00", "\ufffd"))
    _parser().block.parse(source, _parser(), {}, feed := _Feed(walker))
    feed.finish()
    return walker.blocks()


class _Feed(list["Token"]):
    """Where the parser puts its tokens: each goes to the walker once the next one is complete, and is then forgotten.

    A token takes 300 bytes, and a page may have a million. The rules look back only to hide paragraphs of tight lists.
    """

    def __init__(self, walker: _Walker) -> None:
        super().__init__()
        self._walker = walker

    def append(self, token: Token) -> None:
        """Take a token that its rule has not filled yet; the one before is filled by now."""
        super().append(token)
        if len(self) == 3:
            self._visit()

    def finish(self) -> None:
        """Hand on what is left."""
        while self:
            self._visit()

    def _visit(self) -> None:
        token = self.pop(0)
        self._walker.visit(token, self[0].content if self else "")


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
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._flags: dict[frozenset[str], frozenset[str]] = {}

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
            self._terms[-1] = plain_text(content[:_MAX_READ])[:_MAX_TERM].rstrip()
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
        self._headings.append((level, plain_text(content[:_MAX_READ])[:_MAX_TERM].rstrip()))
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
        path, frozen = self._path(), frozenset(flags)  # one object for all that are alike: a page may have many blocks
        path, frozen = self._paths.setdefault(path, path), self._flags.setdefault(frozen, frozen)
        self._found.append((lines[0], lines[1], path, kind, frozen))

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
