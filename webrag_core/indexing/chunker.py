"""Parents and children as exact slices of the Markdown.

Parents: neighbouring blocks of one section up to `parent_max` tokens. Children: the same blocks packed up to
`child_target` tokens; they partition their parent. A block above a limit is split at line, sentence, word or, at
worst, character. No overlap anywhere: neighbours come from locality expansion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from webrag_core.errors import IntegrityError
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.indexing.static_model import count_tokens

CHUNKER_VERSION = "blocks-2"

_CUTS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;])\s+"),
    re.compile(r"\s+"),
)
_SMALL_SECTION = 0.35
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


def chunk_markdown(text: str, *, parent_max: int, child_target: int) -> list[Chunk]:
    """Parents in reading order, each with its children.

    Raises IntegrityError when parents do not cover every non-blank character of `text` exactly once or children
    do not partition their parent (a defect of this module: nothing is to be stored then).
    """
    pieces = _measure(text, parse_blocks(text))
    child_target = min(child_target, parent_max)
    pieces = _split(text, pieces, child_target)
    parents = [_parent(text, group, child_target) for group in _pack_parents(pieces, parent_max)]
    _assert_partition(text, parents)
    return parents


def _measure(text: str, blocks: Sequence[Block]) -> list[_Piece]:
    counts = count_tokens([text[block.start : block.end] for block in blocks]) if blocks else []
    return [_Piece(block, count) for block, count in zip(blocks, counts, strict=True)]


def _split(text: str, pieces: Iterable[_Piece], limit: int) -> list[_Piece]:
    """Cut every piece above `limit` tokens at the coarsest boundary that helps, then pack the parts up to `limit`."""
    result: list[_Piece] = []
    for piece in pieces:
        if piece.tokens <= limit:
            result.append(piece)
            continue
        for pattern in _CUTS:
            parts = _cut(text, piece.block, pattern)
            if len(parts) > 1:
                break
        else:
            middle = (piece.block.start + piece.block.end) // 2
            parts = [replace(piece.block, end=middle), replace(piece.block, start=middle)]
            if piece.block.end - piece.block.start < 2:
                result.append(piece)
                continue
        result.extend(_merge(_split(text, _measure(text, parts), limit), limit))
    return result


def _cut(text: str, block: Block, pattern: re.Pattern[str]) -> list[Block]:
    """Parts of `block` between matches of `pattern`; white space at a cut belongs to no part."""
    parts: list[Block] = []
    start = block.start
    for match in pattern.finditer(text, block.start, block.end):
        end = match.start()
        if text[start:end].strip():
            parts.append(replace(block, start=start, end=end))
            # keep the indentation of the next line: it belongs to what follows
            start = match.start() + match.group().rfind("\n") + 1 if "\n" in match.group() else match.end()
    if text[start : block.end].strip():
        parts.append(replace(block, start=start))
    return parts


def _merge(pieces: Sequence[_Piece], limit: int) -> list[_Piece]:
    merged: list[_Piece] = []
    for piece in pieces:
        if merged and merged[-1].tokens + piece.tokens <= limit:
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
        starts_section = heading and size > target * _SMALL_SECTION
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
