"""Parents and children as exact slices of the Markdown.

Parents: neighbouring blocks of one section up to `parent_max` tokens. Children: the same blocks packed up to
`child_target` tokens; they partition their parent. A block above a limit is split at line, sentence, word or, at
worst, character. No overlap anywhere: neighbours come from locality expansion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from webrag_core.errors import IntegrityError
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.providers.static_model import count_tokens

CHUNKER_VERSION = "blocks-3"

# where a block is cut, coarsest first; with so many times the limit in it, by the characters that a token has in it on
# average, for counting every part takes longer than all the rest
_CUTS = (
    (re.compile(r"\n[ \t]*\n"), 128),
    (re.compile(r"\n"), 128),
    (re.compile(r"(?<=[.!?;])\s+"), 32),
    (re.compile(r"\s+"), 32),
)
_SMALL_SECTION = 0.35
_WINDOW = (
    100_000  # characters; the tokenizer takes a hundred bytes for every token of a text, and a block may be a page
)
_BATCH = 400_000
_GAP = 1_000
_FILLED = 0.8
_HEADS = ("heading", "term")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice [char_start, char_end) of the text. `children` is empty for a child."""

    char_start: int
    char_end: int
    heading_path: tuple[str, ...]
    token_count: int
    flags: tuple[str, ...]
    children: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block or a part of one, with its tokens."""

    block: Block
    tokens: int


def chunk_markdown(
    text: str, *, parent_max: int, child_target: int, blocks: Sequence[Block] | None = None
) -> list[Chunk]:
    """Parents in reading order, each with its children. `blocks` are those of `text` where they are known.

    Raises IntegrityError when parents do not cover every non-blank character of `text` exactly once or children
    do not partition their parent (a defect of this module: nothing is to be stored then).
    """
    blocks = parse_blocks(text) if blocks is None else blocks
    pieces = _measure(text, [part for block in blocks for part in _windows(text, block)])
    child_target = min(child_target, parent_max)
    pieces = _split(text, pieces, child_target)
    parents = [_parent(text, group, child_target) for group in _pack_parents(pieces, parent_max)]
    _assert_partition(text, parents)
    return parents


def _windows(text: str, block: Block) -> Iterator[Block]:
    """`block`, or parts of it of at most _WINDOW characters, cut at the coarsest boundary in their second half."""
    start = block.start
    while block.end - start > _WINDOW:
        middle, limit = start + _WINDOW // 2, start + _WINDOW
        end = following = limit
        for pattern, _ in _CUTS:
            matches = list(pattern.finditer(text, middle, limit))
            if matches:
                end, following = matches[-1].start(), _after(matches[-1])
                break
        kept = text[start:end].rstrip()
        if kept:
            yield replace(block, start=start, end=start + len(kept))
        start = following
        while start < block.end and text[start].isspace() and text[start - 1].isspace():
            start += 1
    if text[start : block.end].strip():
        yield replace(block, start=start)


def _after(cut: re.Match[str]) -> int:
    """Where the next part begins: the indentation of a line belongs to it."""
    return cut.start() + cut.group().rfind("\n") + 1 if "\n" in cut.group() else cut.end()


def _measure(text: str, blocks: Sequence[Block]) -> list[_Piece]:
    """Tokens of each block, counted for so many blocks at a time that memory stays small."""
    pieces: list[_Piece] = []
    first, size = 0, 0
    for index, block in enumerate(blocks, start=1):
        size += block.end - block.start
        if size >= _BATCH or index == len(blocks):
            batch = blocks[first:index]
            counts = count_tokens([text[part.start : part.end] for part in batch])
            pieces += [_Piece(part, count) for part, count in zip(batch, counts, strict=True)]
            first, size = index, 0
    return pieces


def _split(text: str, pieces: Iterable[_Piece], limit: int) -> list[_Piece]:
    """Cut every piece above `limit` tokens at the coarsest boundary that helps, then pack the parts up to `limit`."""
    result: list[_Piece] = []
    for piece in pieces:
        if piece.tokens <= limit:
            result.append(piece)
            continue
        size = piece.block.end - piece.block.start
        usual = int(_FILLED * limit * size / piece.tokens)
        for pattern, many in _CUTS:
            parts = _cut(text, piece.block, pattern, usual if piece.tokens > many * limit else 0)
            if len(parts) > 1:
                break
        else:
            if size < 2:
                result.append(piece)
                continue
            parts = _even_parts(piece.block, piece.tokens // limit + 1)
        result.extend(_merge(_split(text, _measure(text, parts), limit), limit))
    return result


def _even_parts(block: Block, count: int) -> list[Block]:
    """`block` in at least two and at most `count` parts of about the same length."""
    step = max(1, -(-(block.end - block.start) // max(2, count)))
    starts = range(block.start, block.end, step)
    return [replace(block, start=start, end=min(start + step, block.end)) for start in starts]


def _cut(text: str, block: Block, pattern: re.Pattern[str], least: int) -> list[Block]:
    """Parts of `block` between matches of `pattern`, whose white space is in none; only the last is below `least`."""
    parts: list[Block] = []
    start = block.start
    for match in pattern.finditer(text, block.start, block.end):
        end = match.start()
        if end - start >= least and text[start:end].strip():
            parts.append(replace(block, start=start, end=end))
            start = _after(match)
    if text[start : block.end].strip():
        parts.append(replace(block, start=start))
    return parts


def _far(above: _Piece, piece: _Piece) -> bool:
    """True when so many blanks stand between two pieces that one slice of both would be mostly blank."""
    return piece.block.start - above.block.end > _GAP


def _merge(pieces: Sequence[_Piece], limit: int) -> list[_Piece]:
    merged: list[_Piece] = []
    for piece in pieces:
        if merged and merged[-1].tokens + piece.tokens <= limit and not _far(merged[-1], piece):
            last = merged[-1]
            merged[-1] = _Piece(replace(last.block, end=piece.block.end), last.tokens + piece.tokens)
        else:
            merged.append(piece)
    return merged


def _pack_parents(pieces: Sequence[_Piece], limit: int) -> list[list[_Piece]]:
    """Fill parents with whole blocks; a new heading opens a parent once the current one holds enough."""
    groups: list[list[_Piece]] = []
    size = 0
    for piece in pieces:
        new_section = piece.block.kind == "heading" and size > limit * _SMALL_SECTION
        new_section = new_section or (bool(groups) and _far(groups[-1][-1], piece))
        if not groups or size + piece.tokens > limit or new_section:
            carried: list[_Piece] = []
            size = 0
            # headings and terms go with what they head
            while groups and not new_section and len(groups[-1]) > 1 and groups[-1][-1].block.kind in _HEADS:
                if size + groups[-1][-1].tokens + piece.tokens > limit:
                    break
                carried.insert(0, groups[-1].pop())
                size += carried[0].tokens
            groups.append(carried)
        groups[-1].append(piece)
        size += piece.tokens
    return groups


def _parent(text: str, pieces: Sequence[_Piece], child_target: int) -> Chunk:
    children = [_chunk(text, group) for group in _pack_children(pieces, child_target)]
    whole = _chunk(text, pieces)
    tokens = sum(child.token_count for child in children)
    return replace(whole, token_count=tokens, children=tuple(children))


def _pack_children(pieces: Sequence[_Piece], target: int) -> list[list[_Piece]]:
    groups: list[list[_Piece]] = []
    size = 0
    for piece in pieces:
        heading = piece.block.kind == "heading" and groups and groups[-1][-1].block.kind != "heading"
        starts_section = (heading and size > target * _SMALL_SECTION) or (groups and _far(groups[-1][-1], piece))
        if not groups or size + piece.tokens > target or starts_section:
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += piece.tokens
    return groups


def _chunk(text: str, pieces: Sequence[_Piece]) -> Chunk:
    blocks = [piece.block for piece in pieces]
    flags = sorted(frozenset().union(*(block.flags for block in blocks)))
    return Chunk(
        char_start=blocks[0].start,
        char_end=blocks[-1].end,
        heading_path=_common_path(blocks),
        token_count=sum(piece.tokens for piece in pieces),
        flags=tuple(flags),
    )


def _common_path(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The path that all blocks share, but never less than the first one's own when it is a heading."""
    path = blocks[0].heading_path
    for block in blocks[1:]:
        shared = 0
        for left, right in zip(path, block.heading_path, strict=False):
            if left != right:
                break
            shared += 1
        path = path[:shared]
    return path or blocks[0].heading_path


def _assert_partition(text: str, parents: Sequence[Chunk]) -> None:
    position = 0
    for parent in parents:
        if parent.char_start < position or text[position : parent.char_start].strip():
            raise IntegrityError(f"parents lose or repeat text before offset {parent.char_start}")
        inner = parent.char_start
        for child in parent.children:
            if child.char_start < inner or text[inner : child.char_start].strip():
                raise IntegrityError(f"children lose or repeat text before offset {child.char_start}")
            inner = child.char_end
        if inner != parent.char_end or parent.children[0].char_start != parent.char_start:
            raise IntegrityError(f"children do not fill their parent at offset {parent.char_start}")
        position = parent.char_end
    if text[position:].strip():
        raise IntegrityError(f"parents lose the text after offset {position}")
