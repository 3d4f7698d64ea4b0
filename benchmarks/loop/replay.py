"""How many policy-item evaluations a minute replay makes: decided again, and scored at the stop.

    python -m benchmarks.loop.replay RUN.jsonl [--policies 200]

Every policy is the decision matrix under thresholds of its own. Prints one JSON object; the first policy pays for
reading the evidence, so the figure is that of the whole sweep.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import cycle, islice, product
from pathlib import Path

from evals.walks.prefixes import PrefixScores
from evals.walks.recorded import load_run_log
from evals.walks.replay import replay_all
from evals.walks.suites import goldens_of
from webrag_core.config import load_settings

_THRESHOLDS: dict[str, tuple[float, ...]] = {
    "mediocre_score_floor": (0.2, 0.3, 0.4, 0.5, 0.6),
    "plateau_variance_threshold": (0.005, 0.01, 0.02, 0.04),
    "score_cliff_threshold": (0.1, 0.15, 0.2, 0.3),
    "diminishing_return_delta": (0.03, 2.0, 3.0),
}


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--policies", type=int, default=200)
    given = parser.parse_args()
    runs = load_run_log(given.run)
    goldens = goldens_of(runs, None)
    items = {golden.id for golden in goldens}
    settings = load_settings()
    variants = [dict(zip(_THRESHOLDS, values, strict=True)) for values in product(*_THRESHOLDS.values())]
    started, evaluations, known = time.perf_counter(), 0, 0
    scores = PrefixScores(goldens)
    for changes in islice(cycle(variants), given.policies):
        replayed = replay_all([run for run in runs if run.id in items], "seed-matrix", settings, changes=changes)
        evaluations += len(replayed)
        for replay in replayed:
            if replay.end == "stopped":
                scores.of(replay)
                known += 1
    seconds = time.perf_counter() - started
    figures = {
        "policies": given.policies,
        "items": len(items),
        "evaluations": evaluations,
        "followed_to_the_stop": known,
        "seconds": round(seconds, 2),
        "evaluations_per_minute": round(60 * evaluations / seconds),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
