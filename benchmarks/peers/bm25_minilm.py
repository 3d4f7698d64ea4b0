"""What a page of Python would do: BM25 by bm25s and MiniLM vectors in an array, fused by rank, all in memory.

Pages are cut into windows of 200 words, 50 of them shared by neighbours, about what the model reads of a text. BM25 is
as bm25s's documentation has it: English stop words, a Snowball stemmer. Both lists of 50 are fused by their ranks
(Cormack, Clarke and Büttcher, Reciprocal rank fusion, 2009, with its constant of 60). What is stored are the index and
texts as bm25s saves them and the vectors, as floats of 32 bits.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks.peers.lines import Page, Passage, Stored, serve, text_of
from benchmarks.peers.minilm import MiniLM

_WORDS, _SHARED = 200, 50
_DEPTH = 50
_RANK_CONSTANT = 60


class Bm25MiniLM:
    """An index in memory, saved in `folder`."""

    def __init__(self, folder: Path, model: MiniLM) -> None:
        self._folder, self._model = folder, model
        self._stemmer = Stemmer.Stemmer("english")
        self._bm25 = bm25s.BM25()
        self._passages: list[Passage] = []
        self._vectors: NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)

    def store(self, pages: Sequence[Page]) -> Stored:
        """Cut, index, embed and save all pages."""
        self._passages = [
            Passage(url=page["url"], text=window) for page in pages for window in _windows(text_of(page).split())
        ]
        texts = [passage["text"] for passage in self._passages]
        self._bm25.index(self._tokens(texts), show_progress=False)
        self._vectors = np.stack([self._model.vector(text) for text in texts])
        self._bm25.save(str(self._folder), corpus=self._passages)
        np.save(self._folder / "vectors.npy", self._vectors)
        return Stored(passages=len(texts), file_bytes=sum(file.stat().st_size for file in self._folder.iterdir()))

    def first_passages(self, question: str, count: int) -> list[Passage]:
        """The first passages of the fused lists."""
        depth = min(_DEPTH, len(self._passages))
        places, scores = self._bm25.retrieve(self._tokens([question]), k=depth, show_progress=False)
        lexical = [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]
        cosines = self._vectors @ self._model.vector(question)
        near = [int(place) for place in np.argsort(-cosines)[:depth]]
        fused: dict[int, float] = defaultdict(float)
        for ranked in (lexical, near):
            for rank, place in enumerate(ranked, start=1):
                fused[place] += 1 / (_RANK_CONSTANT + rank)
        return [self._passages[place] for place in sorted(fused, key=lambda place: -fused[place])[:count]]

    def _tokens(self, texts: list[str]) -> bm25s.tokenization.Tokenized:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)


def _windows(words: Sequence[str]) -> list[str]:
    starts = range(0, max(len(words) - _SHARED, 1), _WORDS - _SHARED)
    return [" ".join(words[start : start + _WORDS]) for start in starts if words]


def main() -> None:
    """Serve the bench."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder for what is stored")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    options = parser.parse_args()
    serve(Bm25MiniLM(options.folder, MiniLM(options.model, options.vocabulary)))


if __name__ == "__main__":
    main()
