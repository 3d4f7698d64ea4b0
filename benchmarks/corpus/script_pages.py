"""What of pages that are empty without scripts is read all the same: `python -m benchmarks.corpus.script_pages FOLDER`.

FOLDER is laid out as WCXB: metadata.json, SPLIT/html/ID.html.gz, SPLIT/ground-truth/ID.json. A page is scored by its
words as a multiset against `main_content`; "first pass" is the conversion without what hides. Prints one JSON object.
Pages whose ground truth is empty are counted, not scored: nobody saw a text in them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError, Reason

_WORD = re.compile(r"\w+")
_URL = "https://example.org/"
_LOST = 0.1  # recall below which a page's text is lost


@dataclass(frozen=True, slots=True)
class Score:
    """Recall and F1 of the first pass and of the whole conversion. `source`: what the text comes from."""

    identity: str
    spa: bool
    truth: int
    first: tuple[float, float]
    whole: tuple[float, float]
    source: str


def main() -> None:
    """Score one split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    files = json.loads((arguments.folder / "metadata.json").read_text())["files"]
    pages = [(key, bool(file["spa"])) for key, file in files.items() if file["split"] == arguments.split]
    with ProcessPoolExecutor() as pool:
        scores = list(pool.map(partial(_score, arguments.folder / arguments.split), pages, chunksize=16))
    scored = [score for score in scores if score.truth]
    lost = [score for score in scored if score.first[0] < _LOST]
    changed = [score for score in scored if score.first != score.whole]
    print(
        json.dumps(
            {
                "split": arguments.split,
                "pages": len(scored),
                "f1": [round(mean(getattr(score, name)[1] for score in scored), 4) for name in ("first", "whole")],
                "lost": [len(lost), sum(score.whole[0] < _LOST for score in lost)],
                "changed": len(changed),
                "changed f1": [
                    round(mean(getattr(score, name)[1] for score in changed), 3) if changed else None
                    for name in ("first", "whole")
                ],
                "worse": [score.identity for score in changed if score.whole[1] < score.first[1] - 0.01],
                "sources of changed": Counter(score.source for score in changed),
                "marked as single-page applications": Counter(score.source for score in scores if score.spa),
            },
            indent=1,
        )
    )


def _score(folder: Path, page: tuple[str, bool]) -> Score:
    identity, spa = page
    body = gzip.decompress((folder / "html" / f"{identity}.html.gz").read_bytes())
    truth = json.loads((folder / "ground-truth" / f"{identity}.json").read_text())["ground_truth"]
    wanted = _words(truth.get("main_content") or "")
    headers = {"content-type": "text/html; charset=utf-8"}
    source = "page"
    try:
        first = convert_html(body, url=_URL, charset="utf-8").markdown
    except FetchError:
        first = ""
    try:
        converted = convert_page(AcquiredPage(_URL, _URL, 200, headers, body, datetime.now(UTC), len(body)))
        whole = converted.markdown
        source = next((warning.rpartition("(")[0] or "state" for warning in converted.warnings), source)
    except FetchError as error:
        # other refusals are not about scripts, and the same before
        whole = "" if error.reason in (Reason.NEEDS_SCRIPT, Reason.EMPTY_PAGE) else first
        source = error.reason.value
    return Score(identity, spa, wanted.total(), _figures(wanted, first), _figures(wanted, whole), source)


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _figures(wanted: Counter[str], text: str) -> tuple[float, float]:
    """(recall, F1)."""
    got = _words(text)
    hits = (wanted & got).total()
    return (hits / wanted.total(), 2 * hits / (wanted.total() + got.total())) if hits else (0.0, 0.0)


if __name__ == "__main__":
    main()
