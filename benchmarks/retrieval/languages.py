"""Search in other languages: XQuAD's questions over its paragraphs, each language a corpus of its own.

Each of the 240 paragraphs is a document, indexed by the product's own indexer with the settings in force. A question
is answered by its paragraph; a ranking is that of documents, each at its best chunk. `local` is what a user gets, bm25
and dense are its parts alone, over the same chunks in the same database. Intervals are 95 %, by bootstrap over
paragraphs. With `--together` one corpus holds all languages: translations of the paragraph are passed over.

The folder holds `xquad.LANGUAGE.json` (Artetxe, Ruder and Yogatama, 2020; CC BY-SA 4.0, not part of this repository).
Rules were made on `DEVELOPED` and there on every other article only; nothing was fitted on the other languages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from evals.intervals import Interval, interval
from evals.retrieval.data import BenchDocument
from evals.retrieval.quality import bench_settings, open_bench
from evals.retrieval.scoring import Unit
from webrag_core.config import Settings, load_settings

DEVELOPED = ("en", "es", "de", "zh", "ru")
"""Languages whose first half (every other article) rules were made on."""

SYSTEMS = ("local", "bm25", "dense")
_RANKS = 10


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the paragraph that answers it, and the parity of its article: even ones were developed on."""

    text: str
    paragraph: str
    parity: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What one language gives: MRR@10 and recall@10 by system, and the difference of local and bm25."""

    language: str
    mrr: dict[str, Interval]
    recall: dict[str, float]
    lead: Interval

    def __str__(self) -> str:
        cells = [f"{self.language:4}", f"{self.lead.n:5}"]
        cells += [f"{self.mrr[system].mean:.3f}" for system in SYSTEMS]
        cells += [f"{self.recall[system]:.3f}" for system in SYSTEMS]
        return "  ".join([*cells, f"{self.lead.mean:+.3f} [{self.lead.low:+.3f}, {self.lead.high:+.3f}]"])


def read_set(path: Path) -> tuple[list[BenchDocument], list[Question]]:
    """The paragraphs as documents, and the questions, without byte order marks and the like."""
    documents: list[BenchDocument] = []
    questions: list[Question] = []
    for parity, article in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        for paragraph in article["paragraphs"]:
            name = f"{path.name.split('.')[1]}.{len(documents)}"
            documents.append(BenchDocument(id=name, text=_clean(paragraph["context"]) + "\n"))
            questions += [Question(_clean(item["question"]), name, parity % 2) for item in paragraph["qas"]]
    return documents, questions


def _clean(text: str) -> str:
    """Without control and format characters, which conversion removes, and with single spaces."""
    return " ".join(
        "".join(
            character
            for character in text
            if unicodedata.category(character) not in ("Cc", "Cf") or character.isspace()
        ).split()
    )


async def ranks_of(
    path: Path, settings: Settings, questions: Sequence[Question], documents: Sequence[BenchDocument]
) -> dict[str, list[int | None]]:
    """Rank of each question's paragraph by system; None = not among the first ten."""
    ranks: dict[str, list[int | None]] = {system: [] for system in SYSTEMS}
    async with open_bench(documents, bench_settings(settings, documents)) as bench:
        for question in questions:
            for system in SYSTEMS:
                ranked = _documents(await bench.systems[system](question.text), question.paragraph)
                ranks[system].append(ranked.index(question.paragraph) + 1 if question.paragraph in ranked else None)
            _show(path.name, len(ranks["local"]), len(questions))
    return ranks


def _documents(units: Sequence[Unit], answer: str) -> list[str]:
    """The first ten documents, without translations of the answer."""
    number = answer.partition(".")[2]
    ranked = dict.fromkeys(unit.document for unit in units)
    return [passage for passage in ranked if passage == answer or passage.partition(".")[2] != number][:_RANKS]


def figures(
    language: str, questions: Sequence[Question], ranks: dict[str, list[int | None]], places: Sequence[int]
) -> Figures:
    """The figures over the questions at `places`."""
    clusters = [questions[place].paragraph for place in places]
    reciprocal = {
        system: [1 / rank if (rank := ranks[system][place]) else 0.0 for place in places] for system in SYSTEMS
    }
    return Figures(
        language,
        {system: interval(values, clusters) for system, values in reciprocal.items()},
        {system: sum(value > 0 for value in values) / len(values) for system, values in reciprocal.items()},
        interval(
            [ours - theirs for ours, theirs in zip(reciprocal["local"], reciprocal["bm25"], strict=True)], clusters
        ),
    )


def _show(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty() and done % 20 == 0:
        print(f"\r{name}: {done}/{total}", end="", file=sys.stderr)


def _groups(language: str, questions: Sequence[Question]) -> Iterator[tuple[str, list[int]]]:
    """The questions that are reported together."""
    every = range(len(questions))
    if language in DEVELOPED:
        yield "developed on", [place for place in every if questions[place].parity == 0]
        yield "other half of the languages developed on", [place for place in every if questions[place].parity == 1]
    else:
        yield "languages that nothing was fitted on", list(every)


def main() -> None:
    """Ask, and print a table for each group of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds xquad.LANGUAGE.json")
    parser.add_argument("--languages", nargs="*", help="only these (default: every file of the folder)")
    parser.add_argument("--develop", action="store_true", help="ask the questions that rules are made on, no others")
    parser.add_argument("--together", action="store_true", help="all these languages in one corpus")
    parser.add_argument("--every", type=int, default=1, help="only every so many questions")
    chosen = parser.parse_args()
    paths = {path.name.split(".")[1]: path for path in sorted(chosen.folder.glob("xquad.*.json"))}
    tables: dict[str, list[Figures]] = {}
    languages = chosen.languages or ([*DEVELOPED] if chosen.develop else list(paths))
    sets = {language: read_set(paths[language]) for language in languages}
    together = [document for documents, _ in sets.values() for document in documents]
    for language, (documents, questions) in sets.items():
        documents, questions = together if chosen.together else documents, questions[:: chosen.every]
        if chosen.develop:
            questions = [question for question in questions if question.parity == 0]
        ranks = asyncio.run(ranks_of(paths[language], load_settings(), questions, documents))
        for group, places in _groups(language, questions):
            if places:
                tables.setdefault(group, []).append(figures(language, questions, ranks, places))
                print(tables[group][-1], f"({group})", file=sys.stderr)
    print(report(tables))


def report(tables: dict[str, list[Figures]]) -> str:
    """The tables as text."""
    out = StringIO()
    for group, rows in tables.items():
        print(f"\n{group}\nlang  n      MRR@10 {' / '.join(SYSTEMS)}   recall@10 the same      local - bm25", file=out)
        for row in rows:
            print(row, file=out)
    return out.getvalue()


if __name__ == "__main__":
    main()
