"""How to cut text without spaces into terms: plain BM25 over XQuAD's paragraphs in Chinese and Thai, by unit.

Units are runs of so many characters, or the words of a segmenter that is installed beside the project (BudouX, jieba).
In memory, over the half of the questions that rules are made on (`benchmarks.retrieval.languages`).
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retrieval.languages import Question, read_set
from evals.intervals import Interval, interval
from webrag_core.indexing.terms import words_of
from webrag_core.language.scripts import HAN_AND_KANA, SOUTH_EAST_ASIAN
from webrag_core.retrieval.bm25 import K1, B

_RUN = re.compile(f"([{HAN_AND_KANA}]+|[{SOUTH_EAST_ASIAN}]+)")
Cut = Callable[[str], list[str]]


def grams(size: int) -> Cut:
    """Runs of `size` characters."""
    return lambda run: [run[at : at + size] for at in range(len(run) - size + 1)] or [run]


def cuts(language: str) -> Iterator[tuple[str, Cut]]:
    """The units by name."""
    for size in (1, 2, 3, 4):
        yield f"{size} characters", grams(size)
    with suppress(ModuleNotFoundError):
        budoux: Any = import_module("budoux")
        yield "budoux", getattr(budoux, f"load_default_{_PARSERS[language]}_parser")().parse
    if language == "zh":
        with suppress(ModuleNotFoundError):
            jieba: Any = import_module("jieba")
            yield "jieba", jieba.lcut


_PARSERS = {"zh": "simplified_chinese", "th": "thai"}


def quality(texts: Sequence[str], questions: Sequence[Question], cut: Cut) -> Interval:
    """MRR@10 of BM25 over whole paragraphs."""

    def terms(text: str) -> list[str]:
        runs = (run for word in words_of(text.lower()) for run in _RUN.split(word) if run)
        return [term for run in runs for term in (cut(run) if _RUN.match(run) else [run])]

    counts = [Counter(terms(text)) for text in texts]
    lengths = np.array([count.total() for count in counts])
    holders = Counter(term for count in counts for term in count)
    ranks = []
    for question in questions:
        scores = np.zeros(len(texts))
        for term in dict.fromkeys(terms(question.text)):
            frequency = np.array([count[term] for count in counts])
            idf = math.log(1 + (len(texts) - holders[term] + 0.5) / (holders[term] + 0.5))
            scores += idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths / lengths.mean()))
        answer_score = scores[int(question.paragraph.partition(".")[2])]
        rank = 1 + int((scores > answer_score).sum())
        ranks.append(1 / rank if answer_score > 0 and rank <= 10 else 0.0)
    return interval(ranks, [question.paragraph for question in questions])


def main() -> None:
    """Print MRR@10 by language and unit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds xquad.LANGUAGE.json")
    folder = parser.parse_args().folder
    for language in _PARSERS:
        documents, questions = read_set(folder / f"xquad.{language}.json")
        developed = [question for question in questions if question.parity == 0]
        for name, cut in cuts(language):
            result = quality([document.text for document in documents], developed, cut)
            print(f"{language}  {name:14} {result.mean:.3f} [{result.low:.3f}, {result.high:.3f}]", flush=True)


if __name__ == "__main__":
    main()
