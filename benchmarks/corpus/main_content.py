"""Main content of article pages against a ground truth: `python -m benchmarks.corpus.main_content FOLDER`.

FOLDER is laid out as the article extraction benchmark: ground-truth.json maps a key to {"articleBody": text}, the
pages are html/KEY.html.gz. A page is scored by its word 4-grams as a multiset, precision and recall are averaged over
pages, F1 is that of the two averages. Prints one JSON object: all pages, and every second one of the sorted keys.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError
from webrag_core.indexing.markdown import plain_text

_WORD = re.compile(r"\w+")
_IMAGE = re.compile(r"!\[[^\]]*\]\((?:<[^>]*>|(?:[^()\\]|\\.|\([^()]*\))*+)\)")
_GRAM = 4


def grams(text: str) -> Counter[tuple[str, ...]]:
    """Word 4-grams with their counts; a text of fewer words is one gram."""
    words = _WORD.findall(text)
    length = min(_GRAM, len(words))
    return Counter(tuple(words[i : i + length]) for i in range(len(words) - length + 1)) if words else Counter()


def kept_text(page: bytes) -> str:
    """What conversion keeps of a page, without Markdown's marks, link targets and pictures."""
    try:
        markdown = convert_html(page, url="https://example.org/").markdown
    except FetchError:
        return ""
    return "\n".join(plain_text(line) for line in _IMAGE.sub("", markdown).splitlines())


def figures(pairs: list[tuple[str, str]]) -> dict[str, float | int]:
    """Precision, recall and F1 of (wanted, kept) texts."""
    precisions, recalls = [], []
    for wanted, kept in pairs:
        want, got = grams(wanted), grams(kept)
        hits = (want & got).total()
        if got:
            precisions.append(hits / got.total())
        if want:
            recalls.append(hits / want.total())
    precision = sum(precisions) / max(1, len(precisions))
    recall = sum(recalls) / max(1, len(recalls))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"pages": len(pairs), "precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    pairs = [
        (truth[key].get("articleBody", ""), kept_text(gzip.decompress((folder / f"html/{key}.html.gz").read_bytes())))
        for key in sorted(truth)
    ]
    print(json.dumps({"all": figures(pairs), "even": figures(pairs[::2]), "odd": figures(pairs[1::2])}, indent=2))


if __name__ == "__main__":
    main()
