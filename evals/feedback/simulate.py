"""Proof by replay that feedback mends what is broken and cannot be gamed.

The documents of the 720 retrieval questions are split in two halves by a hash of their name. The weights of the scorer
are spoilt on purpose. Simulated judges (`judges`) rate answers to questions of one half; half of their ratings fit a
step of at most 10 %, the other half and the goldens of the same half judge it, and what passes is released, again and
again until a step is refused. Reported is MRR on the other half, which nothing ever saw.

`python -m evals.feedback.simulate` prints a table; `--out FILE` writes every run.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from evals.feedback.features import Candidates, candidates_of, mrr
from evals.feedback.gate import judge
from evals.feedback.judges import Crowd, Given, adversary, agreements, collect, honest, shuffled
from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from webrag_core.config import load_settings
from webrag_core.feedback.estimate import best_step, is_for_fitting, weigh
from webrag_core.feedback.safeguards import Agreement
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights

SEEDS = 20
SPOILT = ScoreWeights(lexical=0.06, coverage=0.04, proximity=0.02, token_match=0.14, sibling=0.14, cosine=0.60)
"""As if meaning were all: words count a fifth of what they did, the cosine four times as much."""
MOST_RELEASES = 40
_REVIEWED = 30
_HONEST = Crowd("honest", honest, 30, 10)
SCENARIOS: dict[str, tuple[Crowd, ...]] = {
    "honest": (_HONEST,),
    "a fifth adversaries": (Crowd("honest", honest, 24, 10), Crowd("adversary", adversary, 6, 10)),
    "one adversary, 1,000 ratings": (_HONEST, Crowd("adversary", adversary, 1, 1000)),
    "shuffled": (_HONEST,),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: releases until a step was refused and why, MRR on the half that nothing saw, the final weights."""

    scenario: str
    seed: int
    ratings: int
    releases: int
    refused: str
    mrr: float
    weights: dict[str, float]


def halves(candidates: Sequence[Candidates], documents_of: dict[str, str]) -> tuple[list[Candidates], list[Candidates]]:
    """Split by document; `documents_of` names that of each question's evidence."""
    parts: tuple[list[Candidates], list[Candidates]] = ([], [])
    for one in candidates:
        parts[hashlib.sha256(documents_of[one.question].encode()).digest()[0] % 2].append(one)
    return parts


def run(scenario: str, seed: int, rated: Sequence[Candidates], reported: Sequence[Candidates]) -> Outcome:
    """Collect ratings under the spoilt weights, then propose, judge and release until a step is refused."""
    rng = np.random.default_rng(seed)
    given = collect(SCENARIOS[scenario], rated, SPOILT, rng)
    if scenario == "shuffled":
        given = shuffled(given, rated, SPOILT, rng)
    reviewed = set(rng.choice(len(rated), size=_REVIEWED, replace=False).tolist())
    known = agreements(given, reviewed)
    weights, releases, refused = release_all(given, known, rated)
    return Outcome(scenario, seed, len(given), releases, refused, mrr(reported, weights), weights.by_name())


def release_all(
    given: Sequence[Given], known: dict[str, Agreement], rated: Sequence[Candidates]
) -> tuple[ScoreWeights, int, str]:
    """The weights after every release that passes, how many those were, and why there was no further one."""
    fitting = weigh([one.rating for one in given if is_for_fitting(one.rating.answer)], known)
    held = [one.rating for one in given if not is_for_fitting(one.rating.answer)]
    weights = SPOILT
    for releases in range(MOST_RELEASES):
        step = best_step(fitting, weights)
        if step == weights:
            return weights, releases, "no step is better"
        verdict = judge(weights, step, goldens={"questions": rated}, held=held, agreements=known)
        if not verdict.passes:
            return weights, releases, "; ".join(verdict.why)
        weights = step
    return weights, MOST_RELEASES, f"stopped after {MOST_RELEASES}"


def main() -> None:
    """Run every scenario with every seed and print what came of them, beside the targets."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    documents = load_documents(DEFAULT_DOCUMENTS)
    questions = load_questions(DEFAULT_QUESTIONS, documents)
    candidates = asyncio.run(candidates_of(documents, questions, load_settings()))
    rated, reported = halves(candidates, {one.id: one.evidence[0].document for one in questions})
    print(len(rated), len(reported), "shipped", mrr(rated, SHIPPED), mrr(reported, SHIPPED), "spoilt", mrr(rated, SPOILT), mrr(reported, SPOILT))
    for scenario in SCENARIOS:
        for seed in range(arguments.seeds):
            o = run(scenario, seed, rated, reported)
            print(o.scenario, o.seed, o.ratings, o.releases, round(o.mrr,4), o.refused[:150], flush=True)

if __name__ == "__main__":
    main()
