"""The stored text of a page's version as a person reads it, with a quote marked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from markupsafe import Markup
from psycopg import AsyncConnection
from psycopg.rows import class_row
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.reach import Reach
from webrag_core.application.services import Services
from webrag_core.errors import InvalidInputError
from webrag_core.foreign_values import whole_number
from webrag_core.history.left_out import left_out_words
from webrag_core.indexing.markdown import parse_blocks
from webrag_core.indexing.unit_text import FENCE
from webrag_core.text_work import beside_loop
from webrag_core.web.page_html import page_html, plain_html
from webrag_core.web.rendering import page

_PART = 30_000  # characters of a page shown at once
_MOST = 2 * _PART  # of blocks that cannot be cut
_BEFORE_QUOTE = 10_000
_VERSION = """
SELECT v.id AS version_id, s.key AS source, d.canonical_url AS url, v.title, v.number, v.sha256, v.markdown,
       v.fetched_at, v.left_out, v.all_text, language_of(v.language, v.detected_language) AS language,
       v.id IS NOT DISTINCT FROM d.current_version AS is_current,
       (SELECT number FROM document_versions c WHERE c.id = d.current_version) AS current_number,
       (SELECT min(p.seen_from) FROM version_periods p WHERE p.version_id = v.id) AS seen_first,
       coalesce((SELECT max(p.seen_last) FROM version_periods p WHERE p.version_id = v.id), v.fetched_at) AS seen_last
FROM document_versions v JOIN documents d ON d.id = v.document_id JOIN sources s ON s.id = d.source_id WHERE v.id = %s
"""


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a page. `markdown` is None when its text was pruned; `current_number` None when the page is gone."""

    version_id: int
    source: str
    url: str
    title: str | None
    number: int
    sha256: str
    markdown: str | None
    fetched_at: datetime
    language: str | None
    is_current: bool
    current_number: int | None
    left_out: dict[str, int] | None
    all_text: bool
    seen_first: datetime | None
    seen_last: datetime


@dataclass(frozen=True, slots=True)
class PagePart:
    """Some blocks of a version, characters [start, end) of its text, as HTML. `quote` is what cannot be marked in it,
    "" when it is. `before` and `after` are where the neighbouring parts begin, None at the ends of the page."""

    html: Markup
    start: int
    end: int
    quote: str
    before: int | None
    after: int | None


async def load_version(connection: AsyncConnection, version_id: int) -> StoredVersion:
    """Load a version. Raises InvalidInputError when there is none of that id."""
    async with connection.cursor(row_factory=class_row(StoredVersion)) as cursor:
        await cursor.execute(_VERSION, (version_id if 0 < version_id < 2**31 else 0,))
        version = await cursor.fetchone()
    if version is None:
        raise InvalidInputError("this version of the page is not stored (it was forgotten, or never was)")
    return version


def part_around(markdown: str, spans: Sequence[tuple[int, int]], reach: int) -> PagePart:
    """The blocks up to `reach` characters before the first and after the last of `spans`, which are marked."""
    return _part(markdown, spans[0][0] - reach, spans[-1][1] + reach, spans)


def part_from(markdown: str, start: int) -> PagePart:
    """The blocks from character `start` on."""
    return _part(markdown, start, start + _PART, ())


def _part(markdown: str, low: int, high: int, spans: Sequence[tuple[int, int]]) -> PagePart:
    """The part between two characters, cut between blocks, or within one that is longer than a part may be. What it
    costs follows from the length of a part, not from that of the text."""
    low, high = max(low, 0), min(high, len(markdown))
    base = _top_level(markdown, low)
    window = markdown[base : low + _MOST + _PART]
    starts = [base + block.start for block in parse_blocks(window)]
    first = bisect_right(starts, low) - 1
    start = starts[first] if first > 0 else base
    is_cut = low - start > _PART
    start = low if is_cut else start
    last = bisect_left(starts, max(high, start + 1))
    end = min(starts[last] if last < len(starts) else base + len(window), start + _MOST)
    held = [(max(span, start), min(other, end)) for span, other in spans]
    held = [(first, other) for first, other in held if first < other]
    places = [(first - start, other - start) for first, other in held]
    shown = plain_html(markdown[start:end], places) if is_cut else page_html(*_outdented(markdown[start:end], places))
    return PagePart(
        shown.html,
        start,
        end,
        quote="" if shown.is_marked else "\n".join(markdown[first:other] for first, other in held),
        before=_top_level(markdown, start - _PART) if start else None,
        after=end if end < len(markdown) else None,
    )


def _top_level(markdown: str, place: int) -> int:
    """Where the last block at or before `place` begins that stands in no other and in no code; where it is further
    away than a part is long, a character as far before."""
    if place <= 0:
        return 0
    lowest = max(0, place - _MOST)
    fences = _fenced(markdown, place)
    end = place + 1
    while (end := markdown.rfind("\n\n", lowest, end)) >= 0:
        start = end + 2
        within = bisect_right(fences, start, key=lambda fence: fence[0]) - 1
        if start <= place and not markdown[start : start + 1].isspace() and (within < 0 or start >= fences[within][1]):
            return start
        end += 1
    return lowest


def _fenced(markdown: str, most: int) -> list[tuple[int, int]]:
    """[start, end) of the blocks of code between fences that begin before character `most`."""
    blocks: list[tuple[int, int]] = []
    mark, begun = "", 0
    for line in FENCE.finditer(markdown, 0, most):
        written = line[0].strip()
        if not mark:
            mark, begun = written[: len(written) - len(written.lstrip(written[0]))], line.start()
        elif written.startswith(mark) and not written.strip(mark[0]):
            blocks.append((begun, line.end()))
            mark = ""
    return [*blocks, (begun, len(markdown))] if mark else blocks


def _outdented(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text without the blanks that its first line begins with, and where `spans` are then: a part that begins in a
    definition or an item would be read as code."""
    indent = len(text) - len(text.lstrip(" "))
    if not indent:
        return text, list(spans)
    lines = text.splitlines(keepends=True)
    cuts = [min(indent, len(line) - len(line.lstrip(" "))) for line in lines]
    starts = list(accumulate(map(len, lines), initial=0))
    taken = list(accumulate(cuts, initial=0))

    def moved(place: int) -> int:
        line = min(bisect_right(starts, place), len(lines)) - 1
        return place - taken[line] - min(cuts[line], place - starts[line])

    outdented = "".join(line[cut:] for line, cut in zip(lines, cuts, strict=True))
    return outdented, [(moved(start), moved(end)) for start, end in spans]


async def show_page(request: Request) -> Response:
    """A version's text: the part around a quote (`start`, `end`), or a part from a character on (`from`)."""
    services: Services = await request.app.state.services()
    async with services.corpus.database.connection() as connection:
        version = await load_version(connection, request.path_params["version"])
    Reach.of(request.scope).require(version.source)
    start, end = (_number(request, name) for name in ("start", "end"))
    part: PagePart | None = None
    if version.markdown is not None:
        length = len(version.markdown)
        if 0 <= start < end <= length:
            part = await beside_loop(part_around, version.markdown, [(start, end)], _BEFORE_QUOTE)
        else:
            place = min(max(_number(request, "from"), 0), length)
            part = await beside_loop(part_from, version.markdown, place)
    return page(
        request,
        "stored_page",
        version=version,
        part=part,
        left_out=left_out_words(version.left_out),
        length=len(version.markdown or ""),
    )


def _number(request: Request, name: str) -> int:
    """A number of the query; -1 for none."""
    number = whole_number(request.query_params.get(name, ""), 0, 2**31 - 1)
    return -1 if number is None else number


ROUTES = [Route("/pages/{version:int}", show_page, methods=["GET"])]
