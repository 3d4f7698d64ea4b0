"""Main content of public pages beside other extractors: `python -m benchmarks.corpus.main_content FOLDER...`.

FOLDERs are the sets that `evals.fitting.page_sets` reads; they are not part of this repository. Each figure is given
for the dev half, which the model was fitted on, and for the test half. Other extractors run in the same process where
they are installed: `pip install trafilatura resiliparse readability-lxml`.

trafilatura's set: precision, recall and F1 over all snippets. The article benchmark: word 4-grams as a multiset,
precision and recall averaged over pages, F1 of the two averages. WCXB: the mean F1 of words, by kind of page.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

from evals.fitting.page_sets import MarkedPage, read_set
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError
from webrag_core.indexing.markdown import plain_text

_WORD = re.compile(r"\w+")
_IMAGE = re.compile(r"!\[[^\]]*\]\((?:<[^>]*>|(?:[^()\\]|\\.|\([^()]*\))*+)\)")
_GRAM = 4

Extractor = Callable[[MarkedPage], str]
Scorer = Callable[[Sequence[tuple[MarkedPage, str]]], dict[str, Any]]


def webrag_text(page: MarkedPage) -> str:
    """What conversion keeps of a page, without Markdown's marks, link targets and pictures."""
    try:
        markdown = convert_html(page.html, url=page.url).markdown
    except FetchError:
        return ""
    return "\n".join(plain_text(line) for line in _IMAGE.sub("", markdown).splitlines())


def _trafilatura(page: MarkedPage) -> str:
    from trafilatura import extract

    return extract(page.html, include_comments=False, include_tables=True, include_formatting=False) or ""


def _resiliparse(page: MarkedPage) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse_from_bytes(page.html, detect_encoding(page.html))
    return str(extract_plain_text(tree, main_content=True, alt_texts=False, links=False, list_bullets=False))


def _readability(page: MarkedPage) -> str:
    import lxml.html
    from readability import Document

    summary: str = Document(page.html.decode("utf-8", "replace")).summary()
    return "".join(map(str, lxml.html.fromstring(summary).itertext()))


EXTRACTORS: dict[str, Extractor] = {
    "webrag": webrag_text,
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "readability": _readability,
}


def by_snippets(pairs: Sequence[tuple[MarkedPage, str]]) -> dict[str, Any]:
    """Precision, recall and F1 of snippets over all pages; white space is folded."""
    hits = wanted = wrong = 0
    for page, text in pairs:
        folded = _folded(text)
        hits += sum(_folded(snippet) in folded for snippet in page.within)
        wanted += len(page.within)
        wrong += sum(_folded(snippet) in folded for snippet in page.outside)
    return _figures(hits / max(1, hits + wrong), hits / max(1, wanted))


def by_grams(pairs: Sequence[tuple[MarkedPage, str]]) -> dict[str, Any]:
    """Precision and recall of word 4-grams, averaged over pages, and the F1 of the averages."""
    precisions, recalls = [], []
    for page, text in pairs:
        want, got = _grams(page.text or ""), _grams(text)
        hits = (want & got).total()
        if got:
            precisions.append(hits / got.total())
        if want:
            recalls.append(hits / want.total())
    return _figures(mean(precisions or [0.0]), mean(recalls or [0.0]))


def by_words(pairs: Sequence[tuple[MarkedPage, str]]) -> dict[str, Any]:
    """The mean over pages of the F1 of words as multisets, all pages and each kind."""
    scores: dict[str, list[float]] = {"all": []}
    for page, text in pairs:
        _, score = word_figures(page.text or "", text)
        scores["all"].append(score)
        scores.setdefault(page.kind, []).append(score)
    return {kind: round(mean(values), 4) for kind, values in scores.items()}


def word_figures(reference: str, text: str) -> tuple[float, float]:
    """Recall and F1 of the words of `text` as a multiset; 1 where there is nothing to find and nothing is there."""
    want, got = (Counter(_WORD.findall(each.lower())) for each in (reference, text))
    if not want and not got:
        return 1.0, 1.0
    hits = (want & got).total()
    return hits / max(1, want.total()), 2 * hits / (want.total() + got.total())


SCORERS: dict[str, Scorer] = {"trafilatura": by_snippets, "articles": by_grams, "wcxb": by_words}


def _figures(precision: float, recall: float) -> dict[str, Any]:
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def _grams(text: str) -> Counter[tuple[str, ...]]:
    """Word 4-grams with their counts; a text of fewer words is one gram."""
    words = _WORD.findall(text)
    length = min(_GRAM, len(words))
    return Counter(tuple(words[i : i + length]) for i in range(len(words) - length + 1)) if words else Counter()


def _folded(text: str) -> str:
    return " ".join(text.split())


def _texts(extract: Extractor, pages: Iterable[MarkedPage]) -> tuple[list[tuple[MarkedPage, str]], int, float]:
    """What an extractor returns for each page ("" where it fails), how often it failed, and its CPU time per page."""
    pairs, failures, started = [], 0, time.process_time()
    for page in pages:
        try:
            pairs.append((page, extract(page)))
        except Exception as error:  # noqa: BLE001  (whatever other extractors raise: the page scores nothing)
            logging.getLogger(__name__).info("%s: %s", page.key, error)
            pairs.append((page, ""))
            failures += 1
    return pairs, failures, 1000 * (time.process_time() - started) / max(1, len(pairs))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", choices=EXTRACTORS, action="append", help="these extractors (default: all installed)")
    parser.add_argument("--half", choices=("dev", "test"), help="only this half")
    arguments = parser.parse_args()
    for name in ("trafilatura", "readability"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    wanted = arguments.only or [name for name in EXTRACTORS if name == "webrag" or find_spec(name)]
    for folder in arguments.folders:
        name, pages = read_set(folder)
        pages = [page for page in pages if arguments.half in (None, page.half)]
        for extractor in wanted:
            pairs, failures, cpu_ms = _texts(EXTRACTORS[extractor], pages)
            figures = {
                half: {"pages": len(part), **SCORERS[name](part)}
                for half in ("dev", "test")
                if (part := [pair for pair in pairs if pair[0].half == half])
            }
            row = {"set": name, "extractor": extractor, "cpu_ms": round(cpu_ms, 1), "failures": failures, **figures}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
