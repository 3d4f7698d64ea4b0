"""What of pages that are empty without scripts is read all the same: `python -m benchmarks.corpus.script_pages FOLDER`.

FOLDER is that of WCXB (`evals.fitting.page_sets`). A page is scored by its words as a multiset; "first pass" is the
conversion without what hides. Prints one JSON object.
Pages whose ground truth is empty are counted, not scored: nobody saw a text in them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean

from benchmarks.corpus.main_content import word_figures
from evals.fitting.page_sets import MarkedPage, read_set
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError, Reason

_URL = "https://example.org/"
_LOST = 0.1  # recall below which a page's text is lost


@dataclass(frozen=True, slots=True)
class Score:
    """Recall and F1 of the first pass and of the whole conversion. `source`: what the text comes from."""

    page: MarkedPage
    first: tuple[float, float]
    whole: tuple[float, float]
    source: str


def main() -> None:
    """Score one split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    pages = [page for page in read_set(arguments.folder)[1] if page.half == arguments.split]
    with ProcessPoolExecutor() as pool:
        scores = list(pool.map(_score, pages, chunksize=16))
    scored = [score for score in scores if score.page.text]
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
                "worse": [score.page.key for score in changed if score.whole[1] < score.first[1] - 0.01],
                "sources of changed": Counter(score.source for score in changed),
                "marked as single-page applications": Counter(
                    score.source for score in scores if score.page.is_application
                ),
            },
            indent=1,
        )
    )


def _score(page: MarkedPage) -> Score:
    headers = {"content-type": "text/html; charset=utf-8"}
    source = "page"
    try:
        first = convert_html(page.html, url=_URL, charset="utf-8").markdown
    except FetchError:
        first = ""
    try:
        converted = convert_page(AcquiredPage(_URL, _URL, 200, headers, page.html, datetime.now(UTC), len(page.html)))
        whole = converted.markdown
        source = next((warning.rpartition("(")[0] or "state" for warning in converted.warnings), source)
    except FetchError as error:
        # other refusals are not about scripts, and the same before
        whole = "" if error.reason in (Reason.NEEDS_SCRIPT, Reason.EMPTY_PAGE) else first
        source = error.reason.value
    reference = page.text or ""
    return Score(replace(page, html=b""), word_figures(reference, first), word_figures(reference, whole), source)


if __name__ == "__main__":
    main()
