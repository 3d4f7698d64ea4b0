"""Ask the questions of answer keys from the home page of their site, nothing stored: does a walk bring the facts?

    python -m evals.answers.key_walks --split fitting --out runs/walks-fitting.jsonl [--every 3]

Sites without a home page are left out. One line for each question, then a table: a run claims where it ends answered or
partial; such a claim is false where a fact of the key stands in none of its passages, or nothing answers the question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from evals.answers.fact_matching import comparable, first_place
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet, own_key_sets, present
from evals.walks.sitewalk import suite_settings
from evals.walks.suites import Split
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.answering.evidence import conclusion_by
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine

_HEADS = (
    "site (answerable, unanswerable)",
    "facts in the passages",
    "claimed and right",
    "false claims",
    "unanswerable claimed",
    "pages read",
    "requests",
    "failed",
)
_PASSAGES = 8  # that a reader is shown; each holds some 500 tokens


@dataclass(frozen=True, slots=True)
class KeyWalk:
    """A question and what its walk brought. `holds`: each fact of the key stands in one of the first passages.
    `requests` are the pages asked for, `failed` those of them that brought none."""

    suite: str
    id: str
    answerable: bool
    status: str
    holds: bool
    requests: int
    failed: int
    read: int
    rule: str

    @property
    def claims(self) -> bool:
        """Whether the run ends with an answer."""
        return self.status in ("answered", "partial")


def home_of(chosen: KeySet) -> str | None:
    """The address that every page of the site begins with, where it is a page; else None."""
    pages = sorted(WarcAcquirer(chosen.warc).page_urls(), key=len)
    return pages[0] if pages and all(url.startswith(pages[0]) for url in pages) else None


async def walks_of(chosen: KeySet, home: str, every: int) -> AsyncIterator[KeyWalk]:
    """Walk to the answer of every so many-th question of a suite."""
    settings = suite_settings(load_settings(), chosen.warc)
    async with Corpus.open(settings, WarcAcquirer(chosen.warc)) as corpus:
        engine, conclude = OrchestratorEngine(corpus), conclusion_by(settings)
        for key in chosen.keys[::every]:
            request = AnswerRequest(urls=(home,), question=key.question, scope="run")
            result = await engine.run(request, conclude=conclude)
            outcomes = [document.outcome for document in result.documents]
            best = sorted(result.chunks, key=lambda chunk: -chunk.reranked_score)[:_PASSAGES]
            yield KeyWalk(
                suite=chosen.name,
                id=key.id,
                answerable=key.answerable,
                status=result.status,
                holds=_holds(key, [chunk.chunk.text for chunk in best]),
                requests=len(outcomes),
                failed=outcomes.count("failed"),
                read=sum(document.document_id is not None and not document.preview for document in result.documents),
                rule=result.final_decision.rule,
            )


def _holds(key: AnswerKey, texts: Sequence[str]) -> bool:
    plain = comparable("\n".join(texts))
    return key.answerable and all(first_place(fact, plain) is not None for fact in key.must)


def table(walks: Sequence[KeyWalk]) -> str:
    """Figures by suite, and of all."""
    suites = {name: [walk for walk in walks if walk.suite == name] for name in dict.fromkeys(w.suite for w in walks)}
    lines = [f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|"]
    for name, group in {**suites, "all": walks}.items():
        there = [walk for walk in group if walk.answerable]
        absent = [walk for walk in group if not walk.answerable]
        cells = [
            f"{name} ({len(there)}, {len(absent)})",
            _share(sum(walk.holds for walk in there), len(there)),
            _share(sum(walk.holds and walk.claims for walk in there), len(there)),
            _share(sum(walk.claims and not walk.holds for walk in there), len(there)),
            f"{sum(walk.claims for walk in absent)} of {len(absent)}",
            *(
                f"{sum(getattr(walk, name) for walk in group) / len(group):.1f}"
                for name in ("read", "requests", "failed")
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(count: int, total: int) -> str:
    return f"{count / total:.2f}" if total else "–"


async def main_of(sets: Sequence[KeySet], every: int, out: Path) -> list[KeyWalk]:
    """Walk all suites, and write a line for each question."""
    walks = []
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as lines:
        for chosen in sets:
            home = home_of(chosen)
            if home is not None:
                with progress(len(chosen.keys[::every]), chosen.name) as advance:
                    async for walk in walks_of(chosen, home, every):
                        walks.append(walk)
                        lines.write(json.dumps(asdict(walk)) + "\n")
                        advance(walk.id)
    return walks


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--suite", action="append", default=[], help="this suite alone; repeatable")
    parser.add_argument("--every", type=int, default=1, help="of the questions every so many-th")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    sets = present(own_key_sets(arguments.split, arguments.suite))
    print(table(asyncio.run(main_of(sets, arguments.every, arguments.out))))


if __name__ == "__main__":
    main()
