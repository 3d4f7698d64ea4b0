"""Ask golden questions in prose, prove every stored sentence again, and corrupt each: is that noticed?

    python -m evals.answers.proofs --split reporting [--sample N]

Every sentence of every answer is proved from the database (`proof.recheck`), which does not know how it was composed.
With `--evidence`, what the units of recorded evidence would say is corrupted, one question in five. Corruptions change
one number, negation, quantifier, modal, name or unit, or swap two clauses; a corruption counts as noticed when the
quotes no longer prove the sentence. Composer and proof read a quote in the same way: those that a CommonMark parser
reads otherwise are counted beside.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

from evals.answers.independent_reading import differs
from evals.walks.goldens import load_goldens
from evals.walks.sitewalk import suite_settings
from evals.walks.suites import Split, Suite, own_suites, sample_goldens
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.answering.compose.say import quotes_of, say
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.answering.proof.prove import prove
from webrag_core.answering.proof.recheck import recheck
from webrag_core.answering.units import units_of
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, IntegrityError
from webrag_core.indexing.pipeline import Corpus

Corrupt = Callable[[str, random.Random], str]

_SWAPS = {
    "negation": {"is": "is not", "are": "are not", "can": "cannot", "not": "", "must": "must not", "never": "always"},
    "quantifier": {"all": "some", "some": "all", "any": "no", "every": "some", "only": "also", "most": "few"},
    "modality": {"may": "must", "must": "may", "should": "must", "can": "must", "might": "will", "will": "may"},
    "unit": {"seconds": "minutes", "bytes": "bits", "days": "hours", "KB": "MB", "MB": "GB", "ms": "s"},
}


def corruptions(sentence: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, corrupted sentence) for each kind that applies."""
    for kind, swaps in _SWAPS.items():
        words = [match for match in re.finditer(r"[A-Za-z]+", sentence) if match[0] in swaps]
        if words:
            word = rng.choice(words)
            yield kind, sentence[: word.start()] + swaps[word[0]] + sentence[word.end() :]
    numbers = list(re.finditer(r"\d+", sentence))
    if numbers:
        number = rng.choice(numbers)
        yield "number", sentence[: number.start()] + str(int(number[0]) + 1) + sentence[number.end() :]
    names = list(re.finditer(r"(?<=\s)[A-Z]\w+|\w+[._]\w+", sentence))
    if names:
        name = rng.choice(names)
        yield "name", sentence[: name.start()] + name[0][::-1] + "x" + sentence[name.end() :]
    clauses = sentence.split(", ")
    if len(clauses) > 1 and clauses[0] != clauses[1]:
        yield "clauses", ", ".join([clauses[1], clauses[0], *clauses[2:]])


async def ask_suite(suite: Suite, sample: int | None, report: Counter[str], times: list[float]) -> None:
    """Ask the goldens of a suite; count proofs and corruptions."""
    settings = suite_settings(load_settings(), suite.warc)
    goldens = load_goldens(suite.golden)
    goldens = goldens if sample is None else sample_goldens(goldens, sample)
    rng = random.Random(suite.name)
    async with Corpus.open(settings, WarcAcquirer(suite.warc)) as corpus:
        manager = Manager(corpus)
        with progress(len(goldens), suite.name) as advance:
            for golden in goldens:
                try:
                    answer = await manager.answer(Question(golden.query, (golden.seed_url,)))
                except FetchError as error:
                    print(f"{golden.id}: {error.message}", file=sys.stderr)
                except IntegrityError as error:
                    report["answers with an unproved sentence"] += 1
                    print(f"{golden.id}: {error.message}", file=sys.stderr)
                else:
                    await _count(corpus, answer, report, times, rng)
                advance(golden.id)


async def _count(corpus: Corpus, answer: Answer, report: Counter[str], times: list[float], rng: random.Random) -> None:
    times.append(answer.spent.composing_seconds)
    report["answers"] += 1
    report[f"status {answer.status}"] += 1
    async with corpus.database.connection() as connection:
        async for name, problem in recheck(connection, answer.answer_id):
            report["sentences proved again" if problem is None else "sentences not proved"] += 1
            if problem is not None:
                print(f"{name}: {problem}", file=sys.stderr)


def corrupt_all(runs: Path, report: Counter[str]) -> None:
    """Corrupt what every unit of recorded evidence would say, one question in five."""
    from evals.answers.evidence import load_evidence

    rng = random.Random(0)
    for number, item in enumerate(load_evidence(runs)):
        if number % 5:
            continue
        for unit in units_of(item.gathered.ranked)[:20]:
            if unit.kind not in ("code", "table"):
                report["quotes read"] += 1
                report["read otherwise by CommonMark"] += differs(unit.slice((unit.start, unit.end)), unit.text)
            saying = say(unit)
            if saying is None:
                continue
            report["true sentences"] += 1
            report["false alarms"] += prove(saying.text, quotes_of(unit)) is None
            for kind, changed in corruptions(saying.text, rng):
                if changed != saying.text:
                    report[f"corrupted: {kind}"] += 1
                    report[f"noticed: {kind}"] += prove(changed, quotes_of(unit)) is None


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--sample", type=int, default=None, help="goldens of each site")
    parser.add_argument("--evidence", type=Path, default=None, help="recorded evidence whose sentences are corrupted")
    arguments = parser.parse_args()
    report: Counter[str] = Counter()
    times: list[float] = []
    for suite in own_suites(arguments.split).values():
        if suite.warc.is_file():
            asyncio.run(ask_suite(suite, arguments.sample, report, times))
    if arguments.evidence is not None:
        corrupt_all(arguments.evidence, report)
    seconds = {"median": round(statistics.median(times), 3), "most": max(times)} if times else {}
    print(json.dumps({**report, "seconds beyond the evidence": seconds}, indent=1))


if __name__ == "__main__":
    main()
