"""Reading the past: right text and certainty at a date, past search, planted edits and moves.

    python -m evals.history.past policy-4.6 policy-4.7.2 [--thin]

The releases are stored one after the other. Truth is what each archive holds on its day.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from evals.history.citation_states import store_pages
from evals.history.places import letters
from evals.sites.build_versions import RELEASES, target_of
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.history.as_of import AsOf
from webrag_core.history.diff import diff_texts
from webrag_core.history.facts import facts_changed
from webrag_core.history.pages import seen_at
from webrag_core.history.past_search import search_at
from webrag_core.indexing.markdown import parse_blocks, plain_text
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.sentences import sentences_of
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.request import SearchRequest

_QUESTIONS = 150
_DATES = 2_000
_EDITS = 300
_MOVES = 500
_SECOND = timedelta(seconds=1)
_WORDS = 8  # of a sentence that make a question
Texts = dict[str, dict[str, str]]
"""Markdown by release and URL."""


async def measure(names: Sequence[str], *, thin: bool, seed: int = 0) -> dict[str, object]:
    """All figures for releases of one series, in the order of their days."""
    rng = random.Random(seed)
    archives = {name: target_of(name, thin=thin) for name in names}
    texts: Texts = {}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"webrag_home": Path(folder) / "home"})
        for name, path in archives.items():
            async with Corpus.open(settings.model_copy(update={"webrag_warc": path})) as corpus:
                stored = await store_pages(corpus, WarcAcquirer(path).page_urls())
                texts[name] = await _texts(corpus, stored)
        async with Corpus.open(settings) as corpus:
            report: dict[str, object] = {"releases": list(names), "pages": {name: len(texts[name]) for name in names}}
            report["page_at"] = await _dates(corpus, texts, rng)
            report["past_search"] = await _searches(corpus, texts, rng)
    report["diff"] = _diffs(texts, rng)
    report["facts"] = _facts(texts, rng)
    return report


async def _texts(corpus: Corpus, versions: Mapping[str, int]) -> dict[str, str]:
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id, markdown FROM document_versions WHERE id = ANY(%s)", (list(versions.values()),)
        )
        by_id = dict(await cursor.fetchall())
    return {url: by_id[version] for url, version in versions.items()}


async def _dates(corpus: Corpus, texts: Texts, rng: random.Random) -> dict[str, object]:
    """Text and certainty at random instants, half of them release days and a second before and after."""
    days = {name: RELEASES[name].date for name in texts}
    first, last = min(days.values()) - timedelta(days=90), max(days.values()) + timedelta(days=10)
    urls = sorted({url for pages in texts.values() for url in pages})
    right = 0
    wrong: list[str] = []
    async with corpus.database.connection() as connection:
        for _ in range(_DATES):
            url = rng.choice(urls)
            if rng.random() < 0.5:
                moment = rng.choice(list(days.values())) + rng.choice([-_SECOND, timedelta(0), _SECOND])
            else:
                moment = first + (last - first) * rng.random()
            result = await seen_at(connection, url, AsOf(moment, moment, moment.isoformat()))
            expected = _expected(url, moment, texts, days)
            if (result.certainty, result.text) == expected:
                right += 1
            else:
                wrong.append(f"{url} {moment}: {result.certainty}, expected {expected[0]}")
    return {"asked": _DATES, "right": right, "wrong": wrong[:5]}


def _expected(url: str, moment: datetime, texts: Texts, days: Mapping[str, datetime]) -> tuple[str, str | None]:
    """Certainty and text by the archives alone. (A release without the page proves nothing: it was not looked for.)"""
    seen = sorted((days[name], pages[url]) for name, pages in texts.items() if url in pages)
    before = [sighting for sighting in seen if sighting[0] <= moment]
    if not before:
        return "not_seen", None
    day, text = before[-1]
    later = [sighting for sighting in seen if sighting[0] > moment]
    sure = day == moment or (bool(later) and later[0][1] == text)
    return ("certain" if sure else "between"), text


async def _searches(corpus: Corpus, texts: Texts, rng: random.Random) -> dict[str, object]:
    """Rare words of a sentence that one release alone has, asked at the day of that release."""
    names = list(texts)
    everything = {name: letters(" ".join(pages.values())) for name, pages in texts.items()}
    questions: list[tuple[str, str, str]] = []
    pages = [(name, url) for name in names for url in texts[name]]
    rng.shuffle(pages)
    for name, url in pages:
        if len(questions) == _QUESTIONS:
            break
        text = texts[name][url]
        spans = [item.stripped(text) for item in sentences_of(text) if item.block.kind == "paragraph"]
        rng.shuffle(spans)
        for start, end in spans:
            sentence = plain_text(text[start:end])
            words = terms(sentence)
            if len(words) < _WORDS or any(letters(sentence) in everything[other] for other in names if other != name):
                continue
            kept = [word for word in re.findall(r"\w+", sentence) if terms(word)]
            questions.append((name, sentence, " ".join(rng.sample(kept, min(_WORDS, len(kept))))))
            break
    right, milliseconds = 0, []
    for name, sentence, question in questions:
        day = RELEASES[name].date
        begun = time.perf_counter()
        results = await search_at(corpus, SearchRequest(query=question), AsOf(day, day, day.isoformat()))
        milliseconds.append((time.perf_counter() - begun) * 1000)
        shas = {hashlib.sha256(text.encode()).hexdigest() for text in texts[name].values()}
        hits = [chunk.chunk for chunk in results.chunks[:5]]
        right += any(letters(sentence) in letters(plain_text(hit.text)) and hit.version_sha256 in shas for hit in hits)
    ranked = sorted(milliseconds)
    return {
        "questions": len(questions),
        "right_version_in_first_five": round(right / max(1, len(questions)), 3),
        "milliseconds": {
            "first": round(milliseconds[0]) if milliseconds else None,
            "median": round(statistics.median(ranked)) if ranked else None,
            "p95": round(ranked[int(0.95 * len(ranked))]) if ranked else None,
        },
    }


def _diffs(texts: Texts, rng: random.Random) -> dict[str, object]:
    """Spans of every pair of pages; moves that are planted one by one."""
    names = list(texts)
    pairs = added_up = 0
    milliseconds = []
    for name, other in pairwise(names):
        for url in sorted(texts[name].keys() & texts[other].keys()):
            before, after = texts[name][url], texts[other][url]
            begun = time.perf_counter()
            diff = diff_texts(before, after)
            milliseconds.append((time.perf_counter() - begun) * 1000)
            sides = (
                (before, [change.before for change in diff.blocks]),
                (after, [change.after for change in diff.blocks]),
            )
            pairs += 1
            added_up += all(
                sorted((span.start, span.end) for span in spans if span is not None)
                == [(block.start, block.end) for block in parse_blocks(text)]
                for text, spans in sides
            )
    called = planted = 0
    pages = [text for pages in texts.values() for text in pages.values() if len(parse_blocks(text)) > 8]
    while planted < _MOVES:
        text = rng.choice(pages)
        blocks = [text[block.start : block.end] for block in parse_blocks(text) if block.kind == "paragraph"]
        blocks = [block for block in dict.fromkeys(blocks) if not block.startswith((" ", "-", "*", ":", ">"))]
        if len(blocks) < 8:
            pages.remove(text)
            continue
        place, target = rng.sample(range(len(blocks)), 2)
        moved = blocks.copy()
        moved.insert(target, moved.pop(place))
        diff = diff_texts("\n\n".join(blocks), "\n\n".join(moved))
        planted += 1
        called += {change.kind for change in diff.changes} == {"moved"}
    return {
        "pairs": pairs,
        "spans_add_up": added_up,
        "planted_moves": planted,
        "called_moves": round(called / planted, 3),
        "milliseconds_median": round(statistics.median(milliseconds), 1) if milliseconds else None,
    }


_NEGATION = re.compile(r"\b(is|are|can|may|will|must|does|should)\b(?! not)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_VERSION = re.compile(r"\b(?:version|since|Python|PostgreSQL|Git) (\d+)\.(\d+)")


def _facts(texts: Texts, rng: random.Random) -> dict[str, object]:
    """Numbers, versions, negations and deprecations planted into sentences, and edits of other words."""
    sentences = [
        plain_text(text[item.start : item.end])
        for pages in texts.values()
        for text in pages.values()
        for item in sentences_of(text)
        if item.block.kind == "paragraph"
    ]
    rng.shuffle(sentences)
    counts = dict.fromkeys(("number", "version", "negation", "deprecation", "none"), 0)
    right = dict.fromkeys(counts, 0)
    for sentence in sentences:
        edited = {
            "number": _NUMBER.sub(lambda match: str(int(match.group()) + 1), sentence, count=1),
            "version": _VERSION.sub(lambda match: match.group()[: -len(match[2])] + str(int(match[2]) + 1), sentence),
            "negation": _NEGATION.sub(r"\1 not", sentence, count=1),
            "deprecation": f"Deprecated: {sentence}",
            "none": re.sub(r"\b(the|a) (\w{4,})", r"\1 very \2", sentence, count=1),
        }
        for kind, after in edited.items():
            if after == sentence or counts[kind] == _EDITS // 5 or (kind == "number" and _VERSION.search(sentence)):
                continue
            counts[kind] += 1
            facts = facts_changed(sentence, after)
            right[kind] += facts == [] if kind == "none" else kind in facts
        if min(counts.values()) == _EDITS // 5:
            break
    total = sum(counts.values())
    return {"planted": counts, "right": round(sum(right.values()) / max(1, total), 3), "by_kind": right}


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="+")
    parser.add_argument("--thin", action="store_true")
    chosen = parser.parse_args(arguments)
    print(json.dumps(asyncio.run(measure(chosen.releases, thin=chosen.thin)), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
