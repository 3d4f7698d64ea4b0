"""Real text in any amount for the vector benchmark: the pages of frozen sites, cut in many ways.

The first cut is the product's own children. Every further cut slides a window of another size over the parents, so
that its texts overlap with those before but repeat none of them. A document is one page in one cut; a source is a
section of a site in one cut, so that sources are as topical as real ones.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.conversion.html import convert_html
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.chunker import Chunk, chunk_markdown
from webrag_core.indexing.chunks import embedding_text
from webrag_core.providers.embedder import make_embedder

_SEED = 7
_OVERLAP = 0.3  # of two neighbouring windows
_SIZES = (350, 1000)  # characters of a window, least and most; a child of 128 tokens has about 450
_SPACE = re.compile(r"\s")
_BATCH = 4096
_MOST_CUTS = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """A child of the benchmark: a slice of its page and what is embedded for it."""

    start: int
    end: int
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class CutPage:
    """A document: one page in one cut."""

    url: str
    source: str
    title: str
    markdown: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A converted page with the product's own parents and children."""

    url: str
    title: str
    markdown: str
    parents: tuple[Chunk, ...]


def read_pages(warcs: Sequence[Path], settings: Settings) -> list[Page]:
    """Every HTML page of these sites, converted and cut by the product, in a fixed random order."""
    bodies = asyncio.run(_bodies(warcs))
    limits = (settings.parent_max_tokens, settings.child_target_tokens)
    with ProcessPoolExecutor() as pool:
        result = pool.map(_convert, bodies, [limits] * len(bodies), chunksize=16)
        pages = [page for page in result if page.parents]
    random.Random(_SEED).shuffle(pages)
    return pages


async def _bodies(warcs: Sequence[Path]) -> list[tuple[str, bytes]]:
    results: list[tuple[str, bytes]] = []
    for warc in warcs:
        acquirer = WarcAcquirer(warc)
        results += [(url, (await acquirer.fetch(url)).body) for url in acquirer.page_urls()]
    return results


def _convert(page: tuple[str, bytes], limits: tuple[int, int]) -> Page:
    url, body = page
    converted = convert_html(body, url=url)
    parents = chunk_markdown(converted.markdown, parent_max=limits[0], child_target=limits[1])
    return Page(url, converted.title or "", converted.markdown, tuple(parents))


def cut_pages(pages: Sequence[Page], rows: int) -> list[CutPage]:
    """Documents with `rows` children in all, no text twice; the first ones are the product's own cut.

    Raises InvalidInputError when the pages do not have that many different texts in them.
    """
    sizes = random.Random(_SEED)
    seen: set[str] = set()
    results: list[CutPage] = []
    left, cut = rows, 0
    while left:
        if cut > _MOST_CUTS:
            raise InvalidInputError(f"the pages hold {rows - left} different texts, not {rows}")
        size = sizes.randint(*_SIZES)
        for page in pages:
            pieces: list[Piece] = []
            for piece in _children(page) if cut == 0 else _windows(page, size):
                if piece.text not in seen and len(pieces) < left:
                    seen.add(piece.text)
                    pieces.append(piece)
            if pieces:
                left -= len(pieces)
                source = f"{_section(page.url)}#{cut}"
                results.append(CutPage(f"{page.url}#{cut}", source, page.title, page.markdown, tuple(pieces)))
        cut += 1
    return results


def _children(page: Page) -> Iterator[Piece]:
    for parent in page.parents:
        for child in parent.children:
            yield _piece(page, child.char_start, child.char_end, child.heading_path)


def _windows(page: Page, size: int) -> Iterator[Piece]:
    """Windows of about `size` characters, from white space to white space, none across two parents."""
    for parent in page.parents:
        start = parent.char_start
        while start < parent.char_end:
            yield _piece(page, start, _after_space(page.markdown, start + size, parent.char_end), parent.heading_path)
            start = _after_space(page.markdown, start + int(size * (1 - _OVERLAP)), parent.char_end)


def _after_space(text: str, at: int, end: int) -> int:
    match = _SPACE.search(text, at, end) if at < end else None
    return match.end() if match else end


def _piece(page: Page, start: int, end: int, heading_path: tuple[str, ...]) -> Piece:
    return Piece(start, end, heading_path, embedding_text(page.title, heading_path, page.markdown[start:end]))


def _section(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path.rpartition('/')[0]}"


def embed_texts(texts: Sequence[str], settings: Settings) -> NDArray[np.float32]:
    """Vectors of the model that the settings ask for, shape (len(texts), dimensions)."""

    async def work() -> NDArray[np.float32]:
        embedder = make_embedder(settings)
        try:
            parts = [await embedder.embed(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        finally:
            await embedder.aclose()
        return np.concatenate(parts)

    return asyncio.run(work())
