"""The pool: sentences and small units of the evidence, each with its place in the stored version of its page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from webrag_core.answering.proof.moves import cells_sentence, is_only_header, is_row_of_texts, row_sentence
from webrag_core.indexing.markdown import Block, parse_blocks, says_beside_links, without_link_lines
from webrag_core.indexing.sentences import LIST_ITEM, sentences_of
from webrag_core.indexing.unit_text import unit_text
from webrag_core.retrieval.merging import by_score
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk

MAX_CHUNKS = 12
"""Passages, best first, whose units are candidates."""
MAX_UNITS = 400
_MAX_CHARS = 800  # of a unit; longer ones are tables and listings, no sentences
_LINE = re.compile(r"[^\n]+")
_MARKS = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]")
_RULE = re.compile(r"[\s|:-]+")
_CLAUSE_OR_TERM = re.compile(
    r"\((?:[a-z]{1,2}|[ivx]{1,5}|\d{1,2})\)\s"
    r"|(?P<mark>\*\*|__)[^\s*_\n][^*_\n]{0,80}(?:(?P=mark)\s?[:–—-]|[:–—-]\s?(?P=mark))\s"
)
OPEN_ENDS = (":", "–", "—", "：")
"""How a sentence ends that introduces what follows."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_TARGET = re.compile(r"\]\(([^\s()]{0,2000})")
_CONTENTS = re.compile(
    r"(?:(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|sommaire|[íi]ndice|contenido|sommario)\W*",
    re.IGNORECASE,
)
_SEE_ALSO = re.compile(r"\W*(?:see also|siehe auch|voir aussi|véase también|vedi anche)\b", re.IGNORECASE)
_PICTURE = re.compile(  # what stands in place of a picture, or a few words below one
    r"\W*(?:(?:an?|the) )?(?:image|picture|screen ?shot|screen capture) (?:of|showing|that shows)\b"
    r"|(?:figure|fig\.|abbildung|abb\.) \d[\d.–-]*[.:] (?:\S+ ?){1,10}$",
    re.IGNORECASE,
)
_TO_TOP = re.compile(
    r"\W*(?:(?:back|return|go|jump|scroll|up) to (?:the )?(?:top|contents|index)(?: of (?:the )?page)?"
    r"|(?:zurück )?(?:nach oben|zum (?:seiten)?anfang)|(?:retour )?(?:en )?haut(?: de (?:la )?page)?"
    r"|volver (?:al inicio|arriba)|torna su)\W*",
    re.IGNORECASE,
)
_STEP_HEADING = re.compile(
    r"#{1,6}\s+(?:step|étape|schritt|paso|passo|passaggio|stap|krok|шаг)\s(\d{1,2})\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of the evidence. [`start`, `end`) are its offsets in the Markdown of the version, without white space
    around; `text` is what a person reads. `rank` is the place of its passage in the evidence, from 0."""

    chunk: RetrievedChunk
    rank: int
    relevance: float
    start: int
    end: int
    kind: str
    flags: frozenset[str]
    heading_path: tuple[str, ...]
    text: str
    header: tuple[int, int] | None = None  # of a table row: where its table names the columns
    lead: str = ""  # of an item, a table row and code: the sentence that introduces it
    places: int = 1  # pages that say the same
    is_item: bool = False  # of a list, or a sentence of an item
    is_link: bool = False  # an item with little beside its links: a part of its list, and no answer by itself
    step: int | None = None  # of a heading that names a step, its number

    @property
    def is_listed(self) -> bool:
        """Whether it is one of several that belong together: an item of a list, or a row under a header."""
        return self.is_item or self.header is not None

    @property
    def is_step(self) -> bool:
        """Whether it may be a step: an item, a row, or code."""
        return self.is_listed or self.kind == "code"

    @property
    def says_how(self) -> bool:
        """Whether it may tell how something is done: a step, or what is said of an option or a function."""
        return self.is_step or "definition_list" in self.flags

    @property
    def asks(self) -> bool:
        """Whether it asks something, and so says nothing."""
        return self.text.endswith("?") and self.kind != "code"

    def stands_below(self, other: Unit) -> bool:
        """Whether it stands in the passage of another unit, under the same heading or one below that."""
        path = other.heading_path
        return self.chunk.chunk_id == other.chunk.chunk_id and self.heading_path[: len(path)] == path

    def stands_with(self, other: Unit) -> bool:
        """Whether another unit stands in the same passage, under the same heading."""
        return self.chunk.chunk_id == other.chunk.chunk_id and self.heading_path == other.heading_path

    @property
    def heading(self) -> str:
        """Title, headings and the sentence that the unit stands under, as one line."""
        title = () if self.chunk.title in (None, *self.heading_path) else (str(self.chunk.title),)
        return " > ".join(filter(None, (*title, *self.heading_path, self.lead)))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """What a sentence made of the unit cites: its own span, after that of the header of its table."""
        span = (self.start, self.end)
        return [span] if self.header is None else [self.header, span]

    def slice(self, span: tuple[int, int]) -> str:
        """The exact slice of the version."""
        return self.chunk.text[span[0] - self.chunk.char_start : span[1] - self.chunk.char_start]


def units_of(ranked: Sequence[RankedChunk]) -> list[Unit]:
    """Units of the best passages, in their order, each place of a page once. Passages that no search ranked
    (neighbours), headings but those of steps ("Step 2: …"), the title again, names of pictures, contents, references to
    other pages, lines of links, rows of which only the name is left, and units without a word are left out."""
    units: list[Unit] = []
    places: set[tuple[int, int]] = set()
    best = by_score(passage for passage in ranked if not passage.is_locality_expanded)
    for rank, item in enumerate(best[:MAX_CHUNKS]):
        for unit in _units(item, rank):
            place = (item.chunk.version_id, unit.start)
            if place not in places:
                places.add(place)
                units.append(unit)
    return _without_contents(units)[:MAX_UNITS]


def _without_contents(units: Sequence[Unit]) -> list[Unit]:
    """The units but tables of contents: lists of which each item says no more than a heading of their page."""
    headings = {(unit.chunk.version_id, _folded(heading)) for unit in units for heading in unit.heading_path}
    kept: list[Unit] = []
    for _, members in groupby(
        units, key=lambda unit: (unit.chunk.chunk_id, unit.is_item, unit.heading_path, unit.lead)
    ):
        run = list(members)
        is_contents = all(
            unit.is_item and unit.step is None and (unit.chunk.version_id, _folded(unit.text)) in headings
            for unit in run
        )
        kept += [] if is_contents else run
    return kept


def _folded(text: str) -> str:
    return text.casefold().strip(" .:")


def _units(ranked_chunk: RankedChunk, rank: int) -> Iterator[Unit]:
    chunk = ranked_chunk.chunk
    lead: str = ""  # the sentence before
    under: tuple[str, ...] = ()  # its headings
    for start, end, header, block in _spans(chunk.text, chunk.language):
        markdown = chunk.text[start:end]
        row = None if header is None else row_sentence(chunk.text[slice(*header)], markdown)
        kind = _kind(chunk.text, block)
        text = row or (unit_text(markdown, kind) if kind != "table" else cells_sentence(markdown))
        if kind == "table" and (is_only_header(markdown) or _is_contents(chunk.text, header)):
            continue
        if end - start > _MAX_CHARS or not _WORD.search(text) or _says_nothing(text, chunk.title or ""):
            continue
        at = chunk.char_start
        path = _path(chunk, block.heading_path)
        step = _STEP_HEADING.match(markdown) if kind == "heading" else None
        if step is not None:
            path = path[:-1]
        is_item = step is not None or (
            block.kind == "paragraph" and _is_item(chunk.text, block.start, lead if path == under else "")
        )
        is_link = not without_link_lines(markdown).strip()
        is_promise = is_link and not (is_item and says_beside_links(markdown))
        if is_promise and not (is_item and lead and path == under and _leads_away(markdown, chunk.source_url)):
            continue
        introduced = (is_item or kind in ("code", "table")) and path == under and step is None
        yield Unit(
            chunk=chunk,
            rank=rank,
            relevance=ranked_chunk.reranked_score,
            start=at + start,
            end=at + end,
            kind=kind,
            flags=block.flags,
            heading_path=path,
            text=text,
            header=None if header is None or row is None else (at + header[0], at + header[1]),
            lead=lead if introduced else "",
            is_item=is_item,
            is_link=is_link,
            step=None if step is None else int(step[1]),
        )
        if kind not in ("code", "table") and not is_item:
            lead, under = text, path


def _says_nothing(text: str, title: str) -> bool:
    """Whether a unit is the title once more, the name of a picture, or a reference to other pages or to the top of
    this."""
    if _PICTURE.match(text) is not None:
        return True
    is_reference = _SEE_ALSO.match(text) is not None or _TO_TOP.fullmatch(text) is not None
    return is_reference or _folded(text) == _folded(title)


def _is_contents(text: str, header: tuple[int, int] | None) -> bool:
    """Whether the header of a table says that it holds the contents of the page."""
    return header is not None and _CONTENTS.fullmatch(cells_sentence(text[slice(*header)])) is not None


def _leads_away(markdown: str, url: str) -> bool:
    """Whether the first link of `markdown` leads to another page than `url`: else it is an entry of its contents."""
    link = _TARGET.search(markdown)
    return link is not None and link[1].partition("#")[0] not in ("", url.partition("#")[0])


def _is_item(text: str, start: int, lead: str) -> bool:
    """Whether the paragraph at `start` is an item: of a list, or of a sentence that is left open a clause, `(a) …`, or
    a term in bold with what is said of it, `**Term** – …`."""
    if LIST_ITEM.match(text, start):
        return True
    return lead.endswith(OPEN_ENDS) and _CLAUSE_OR_TERM.match(text, start) is not None


def _spans(text: str, language: str | None) -> Iterator[tuple[int, int, tuple[int, int] | None, Block]]:
    """Units without white space around, and of rows the header; tables are cut into rows, headings left out but those
    of steps."""
    for block, sentences in groupby(sentences_of(text, language), key=lambda sentence: sentence.block):
        if _kind(text, block) == "table":
            header: tuple[int, int] | None = None
            for line in _LINE.finditer(text, block.start, block.end):
                if line[0].isspace():
                    continue
                if header is None and block.kind == "table":
                    header = line.span()
                    if is_row_of_texts(line[0]):  # a row like the others
                        yield *line.span(), None, block
                elif not _RULE.fullmatch(line[0]):
                    yield *line.span(), header, block
        elif block.kind != "heading" or _STEP_HEADING.match(text, block.start):
            for sentence in sentences:
                yield *sentence.stripped(text), None, block


def _kind(text: str, block: Block) -> str:
    """The kind of a block of a passage: one that is cut out of the middle of a long table begins without its header,
    and would be taken for a paragraph."""
    return "table" if block.kind == "paragraph" and text.startswith("|", block.start) else block.kind


@lru_cache(maxsize=32)  # asked for each unit of a passage
def _heading_levels(text: str) -> Mapping[str, int]:
    """The levels, from 1, of the headings in a passage."""
    marks = ((_MARKS.match(text, block.start), block) for block in parse_blocks(text) if block.kind == "heading")
    return {block.heading_path[-1]: len(mark[1]) for mark, block in marks if mark is not None and block.heading_path}


def _path(chunk: RetrievedChunk, inside: tuple[str, ...]) -> tuple[str, ...]:
    """Headings above the passage, then those in it. A passage stands below headings that all of it has in common, or
    begins with the last of its own, and may then go on with sections of other ones."""
    outer = tuple(chunk.heading_path)
    for shared in range(min(len(outer), len(inside)), 0, -1):
        if outer[-shared:] == inside[:shared]:
            return (*outer, *inside[shared:])
    first = _MARKS.match(chunk.text)
    if first is None or not inside or not outer:
        return (*outer, *inside)
    levels = _heading_levels(chunk.text)
    if levels.get(outer[-1]) != len(first[1]):
        return (*outer, *inside)
    above = len(outer) - 1 - (len(first[1]) - levels.get(inside[0], len(first[1])))
    return (*outer[: max(0, above)], *inside)
