"""Measure where sentences are cut, by language, beside libraries that do only this.

    python -m evals.sentence_boundaries FOLDER [--beside pysbd --beside sentencex …] [--mistakes LANGUAGE]

FOLDER holds files in CoNLL-U, as treebanks of Universal Dependencies come (`de_gsd-ud-test.conllu`): the letters before
the first underscore are the language. Sentences of a document are joined by a blank, in Chinese and Japanese by none,
at most PASSAGE together; a document of one sentence goes with the next. A boundary is right where the treebank has a
sentence end. Libraries must be installed; a language that a library lacks has no figure.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from webrag_core.language.sentence_ends import sentence_ends

PASSAGE = 10
"""Sentences that are joined."""

_TEXT = re.compile(r"# text = (.*)")
_UNSPACED = ("ja", "zh")
_PUNKT = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}

Ends = Callable[[str], Iterable[int]]
"""Offsets behind the sentences of a text; white space at them does not count."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that were joined: the text, and the offsets behind each of them but the last."""

    text: str
    ends: frozenset[int]


@dataclass(frozen=True, slots=True)
class Score:
    """Boundaries that are right, that were found, and that there are; CPU seconds and characters."""

    right: int
    found: int
    wanted: int
    seconds: float
    characters: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        return 2 * self.right / max(1, self.found + self.wanted)


def passages(path: Path, language: str) -> Iterator[Passage]:
    """The passages of one treebank file."""
    group: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if (len(group) > 1 and line.startswith(("# newdoc", "# newpar"))) or len(group) == PASSAGE:
            yield from _joined(group, language)
            group = []
        if match := _TEXT.match(line):
            group.append(" ".join(match[1].split()))
    yield from _joined(group, language)


def _joined(sentences: list[str], language: str) -> Iterator[Passage]:
    if len(sentences) < 2:
        return
    blank = "" if language in _UNSPACED else " "
    text, ends = sentences[0], set()
    for sentence in sentences[1:]:
        ends.add(len(text))
        text += blank + sentence
    yield Passage(text, frozenset(ends))


def score(passages: Iterable[Passage], ends: Ends) -> Score:
    """Count the boundaries of these passages."""
    right = result = wanted = characters = 0
    seconds = 0.0
    for passage in passages:
        before = time.process_time()
        places = list(ends(passage.text))
        seconds += time.process_time() - before
        inner = inner_ends(passage.text, places)
        right += len(inner & passage.ends)
        result += len(inner)
        wanted += len(passage.ends)
        characters += len(passage.text)
    return Score(right, result, wanted, seconds, characters)


def inner_ends(text: str, places: Iterable[int]) -> set[int]:
    """The ends without white space before them and without that of the whole text."""
    inner = {len(text[:place].rstrip()) for place in places}
    return inner - {0, len(text.rstrip())}


def segmenter(library: str, language: str) -> Ends | None:
    """The ends by a library; None where it does not know the language."""
    if library == "webrag":
        return lambda text: sentence_ends(text, language)
    if library == "pysbd":
        pysbd = import_module("pysbd")
        if language not in import_module("pysbd.languages").LANGUAGE_CODES:
            return None
        split = pysbd.Segmenter(language=language, clean=False, char_span=True)
        return lambda text: [span.end for span in split.segment(text)]
    if library == "sentencex":
        boundaries = import_module("sentencex").get_sentence_boundaries
        return lambda text: [each["end_index"] for each in boundaries(language, text)]
    if library == "punkt":
        if language not in _PUNKT:
            return None
        punkt = import_module("punkt")
        tokenizer = punkt.PunktSentenceTokenizer(punkt.load_model(_PUNKT[language]))
        return lambda text: [end for _, end in tokenizer.span_tokenize(text)]
    if library == "syntok":
        if language not in ("de", "en", "es"):
            return None
        process = import_module("syntok.segmenter").process
        return lambda text: [
            sentence[-1].offset + len(sentence[-1].value) for paragraph in process(text) for sentence in paragraph
        ]
    raise SystemExit(f"no library {library!r}: webrag, pysbd, sentencex, punkt or syntok")


def treebanks(folder: Path) -> Mapping[str, list[Path]]:
    """The files of a folder by language, sorted."""
    results: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.conllu")):
        results[path.name.partition("_")[0]].append(path)
    return dict(sorted(results.items()))


def mistakes(passages: Iterable[Passage], ends: Ends, around: int = 40) -> Counter[str]:
    """The places that are wrong: `+` where a cut is too many, `-` where there is none, with what stands around."""
    results: Counter[str] = Counter()
    for passage in passages:
        inner = inner_ends(passage.text, ends(passage.text))
        for place in sorted(inner ^ passage.ends):
            sign = "+" if place in inner else "-"
            results[
                f"{sign} {passage.text[max(0, place - around) : place]}⏐{passage.text[place : place + around]}"
            ] += 1
    return results


def main() -> None:
    """Print a table: F1 by language and library, then microseconds for a thousand characters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--beside", action="append", default=[], help="a library to measure beside, if installed")
    parser.add_argument("--mistakes", metavar="LANGUAGE", help="print the wrong places of a language instead")
    parser.add_argument("--half", choices=("dev", "test"), help="only files of this part")
    arguments = parser.parse_args()
    banks = treebanks(arguments.folder)
    libraries = ["webrag", *arguments.beside]
    totals = {library: [0.0, 0.0] for library in libraries}
    if not arguments.mistakes:
        print("language", "boundaries", *libraries, sep="\t")
    for language, paths in banks.items():
        used = [path for path in paths if arguments.half is None or f"-{arguments.half}." in path.name]
        read = [passage for path in used for passage in passages(path, language)]
        if arguments.mistakes:
            if language == arguments.mistakes and (ends := segmenter(libraries[-1], language)) is not None:
                print(*mistakes(read, ends), sep="\n")
            continue
        if not read:
            continue
        cells = []
        for library in libraries:
            ends = segmenter(library, language)
            if ends is None:
                cells.append("")
                continue
            result = score(read, ends)
            totals[library][0] += result.seconds
            totals[library][1] += result.characters
            cells.append(f"{result.f1:.3f}")
        print(language, sum(len(passage.ends) for passage in read), *cells, sep="\t", flush=True)
    if not arguments.mistakes:
        speeds = (f"{1e9 * seconds / max(1, characters):.0f}" for seconds, characters in totals.values())
        print("µs for 1,000 characters", "", *speeds, sep="\t")


if __name__ == "__main__":
    main()
