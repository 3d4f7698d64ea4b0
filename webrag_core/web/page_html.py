"""Stored Markdown as HTML that is safe to show: no markup of the page, no image, nothing that loads; a quote marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from mdit_py_plugins.deflist import deflist_plugin

from webrag_core.foreign_values import scheme_of
from webrag_core.indexing.unit_text import FENCE, LINE_MARKS
from webrag_core.page_text import visible
from webrag_core.text_work import CpuBudget

# no stored text can hold a lone surrogate, and reading Markdown leaves them where they are
_START, _END = "\ud801", "\ud802"
_BORDER = re.compile(f"([{_START}{_END}])")
_OPENING = re.compile(r"[*_`\[]*")
_DESTINATION = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_HEADING_SHIFT = 2  # headings of a page stand below those of ours
_LOWEST_HEADING = 6
_LONGEST = 20_000  # characters of a paragraph or cell whose marks are read
_CPU_SECONDS = 1.0  # for reading marks; what is left then is shown as it is written


@dataclass(frozen=True, slots=True)
class PageHtml:
    """Safe HTML; `is_marked` is True when the quote is marked in it, where the first mark has the id `quote`."""

    html: Markup
    is_marked: bool


def page_html(markdown: str, spans: Sequence[tuple[int, int]] = ()) -> PageHtml:
    """The Markdown as HTML, `spans` of its characters marked, which do not overlap. Where nothing can be marked,
    because a span lies in what is not shown, the page is shown without marks."""
    borders = sorted(_inside(markdown, start, end) for start, end in spans if start < end)
    pieces, position = [], 0
    for start, end in borders:
        if position <= start < end:
            pieces += [markdown[position:start], _START, markdown[start:end], _END]
            position = end
    if pieces:
        state = _State()
        html = _rendered("".join([*pieces, markdown[position:]]), state)
        if state.is_marked and not state.is_inside:
            return PageHtml(html, is_marked=True)
    return PageHtml(_rendered(markdown, _State()), is_marked=False)


@dataclass(slots=True)
class _State:
    """Whether the quote has begun and not ended, and whether a mark was written; the tags that end open links."""

    is_inside: bool = False
    is_marked: bool = False
    link_ends: list[str] = field(default_factory=list)


def plain_html(text: str, spans: Sequence[tuple[int, int]] = ()) -> PageHtml:
    """The text as it is written, `spans` of it marked: for a part that begins within a block."""
    state = _State()
    pieces, position = [], 0
    for start, end in sorted(spans):
        if position <= start < end:
            pieces += [text[position:start], _START, text[start:end], _END]
            position = end
    html = _marked("".join([*pieces, text[position:]]), {"state": state})
    return PageHtml(Markup("<pre>{}</pre>\n").format(Markup(html)), is_marked=state.is_marked)


def _rendered(markdown: str, state: _State) -> Markup:
    # the parser passes no HTML of the page, and `_Renderer` escapes all text
    return Markup(_parser().render(markdown, {"state": state}))


def _inside(markdown: str, start: int, end: int) -> tuple[int, int]:
    """The borders of a quote moved to where they stand in text, not in marks of Markdown, which they would break."""
    line = markdown.rfind("\n", 0, start) + 1
    fence = FENCE.match(markdown, line)
    if fence is not None:
        start = max(start, fence.end())
    else:
        marks = LINE_MARKS.match(markdown, line)
        start = max(start, marks.end() if marks is not None else start)
    fence = FENCE.match(markdown, markdown.rfind("\n", 0, end) + 1)
    if fence is not None and fence.start() >= start:
        end = fence.start()
    for link in _DESTINATION.finditer(markdown, line, min(len(markdown), end + 2_000)):
        start = link.end() if link.start() < start < link.end() else start
        end = link.end() if link.start() + 1 < end < link.end() else end
    opening = _OPENING.match(markdown, start)
    start = min(end, opening.end() if opening is not None else start)
    return start, start + _words_end(markdown[start:end])


def _words_end(text: str) -> int:
    """Where the text ends without blanks and marks behind its last word: emphasis, and the borders of table cells."""
    bare = text.rstrip().rstrip("_")
    if not bare.endswith("|") or bare.endswith("\\|"):
        return len(bare)
    place = len(bare)
    while place and (bare[place - 1] == "|" or bare[place - 1].isspace()):
        place -= 1
    return place


class _Renderer(RendererHTML):
    """Text is escaped and made visible; images are their words; addresses of links are only those of the web."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Text, marked where it is part of the quote."""
        return _marked(tokens[idx].content, env)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Code in a line."""
        return f"<code>{_marked(tokens[idx].content, env)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A block of code."""
        return f"<pre><code>{_marked(tokens[idx].content, env)}</code></pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A block of code; the name of its language is not shown."""
        return self.code_block(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """The words that stand for an image."""
        words = self.renderInlineAsText(tokens[idx].children or [], options, env)
        return f'<span class="image">{_marked(words, env)}</span>' if words.strip() else ""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A link to the live web, which learns nothing of this page."""
        address = _BORDER.sub("", str(tokens[idx].attrGet("href") or ""))
        is_web = scheme_of(address) in ("http", "https")
        env["state"].link_ends.append("</a>" if is_web else "</span>")
        if not is_web:
            return "<span>"
        return f'<a href="{escape(visible(address))}" rel="noreferrer noopener nofollow" target="_blank">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """The end of what `link_open` began."""
        state: _State = env["state"]
        return state.link_ends.pop()

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A heading, below those of our own page."""
        return f"<{_heading(tokens[idx])}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Its end."""
        return f"</{_heading(tokens[idx])}>\n"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A table, which scrolls by itself where it is wide; it can be reached by keyboard then."""
        return '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Its end."""
        return "</table></div>\n"

    def _cell(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<{tokens[idx].tag}>"  # its alignment is an inline style, which the content policy forbids

    th_open = td_open = _cell


def _heading(token: Token) -> str:
    return f"h{min(int(token.tag[1]) + _HEADING_SHIFT, _LOWEST_HEADING)}"


def _marked(text: str, env: EnvType) -> str:
    """The text, escaped; pieces inside the quote are marked."""
    state: _State = env["state"]
    parts = []
    for piece in _BORDER.split(text):
        if piece in (_START, _END):
            state.is_inside = piece == _START
        elif state.is_inside and piece.strip():
            anchor = "" if state.is_marked else ' id="quote"'
            parts.append(f"<mark{anchor}>{escape(visible(piece))}</mark>")
            state.is_marked = True
        else:
            parts.append(str(escape(visible(piece))))
    return "".join(parts)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    options = {"maxNesting": 50, "html": False, "linkify": False}
    parser = MarkdownIt("commonmark", options, renderer_cls=_Renderer).enable("table").use(deflist_plugin)
    parser.core.ruler.at("inline", _read_marks)
    return parser


def _read_marks(state: StateCore) -> None:
    """The parser's rule for marks in lines, within bounds: text beyond them stands as it is written."""
    budget = CpuBudget(_CPU_SECONDS)
    for token in state.tokens:
        if token.type != "inline":
            continue
        if len(token.content) <= _LONGEST and not budget.is_spent:
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:
            token.children = [Token("text", "", 0, content=token.content)]
