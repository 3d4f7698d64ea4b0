"""Every compiled pattern of the product takes time that grows with the length of its text, whatever the text is."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path

import pytest

import webrag_core

SCANNING = {"search", "finditer", "sub", "subn", "findall", "split"}
CHARACTERS = 600
LEAST_SECONDS = 0.0008
LARGEST_RATIO = 6.0  # of the time for four times the length; 4 is linear, 16 quadratic
BOUNDED = {
    # a question of which 2,000 characters are read
    "webrag_core.orchestration.query_analyzer": 2_000,
    # the first 200 characters of a line of plain text
    "webrag_core.conversion.plain_text.pieces._CONTENTS": 200,
    # lines of a text that may say when it holds
    "webrag_core.corpus.stated_dates.PHRASES": 300,
    "webrag_core.corpus.validity_phrases": 300,
    # a question to which nothing is carried over when it is longer
    "webrag_core.language.dialogue.english": 600,
    "webrag_core.language.dialogue.fragments": 600,
    "webrag_core.language.dialogue.topics": 600,
}
"""Patterns, or modules of them, whose callers cut the text first, and the characters that are left."""
READ_IN_THE_SERVER = ("language", "markdown_text", "page_text", "showing", "web", "history")
MOST_SECONDS = 0.1  # for a text of that bound, or of CHARACTERS
FIRST_LENGTHS = (100, 140, 200, 280, 400)  # what grows exponentially is found here, and not waited for


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """The text of each module."""
    root = Path(webrag_core.__file__).parent
    return {
        ".".join(("webrag_core", *path.relative_to(root).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
    }


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    """The patterns of a value, of its items and fields."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4:
        inner: list[object] = []
        if type(value) is dict:
            inner = [*value, *value.values()]
        elif type(value) in (tuple, list, set, frozenset):
            inner = list(value)  # type: ignore[call-overload]
        elif is_dataclass(value) and not isinstance(value, type):
            inner = [getattr(value, field.name, None) for field in fields(value)]
        for item in inner:
            yield from patterns_in(item, depth + 1)


@lru_cache(maxsize=1)
def all_sources() -> str:
    """The text of all modules."""
    return "\n".join(sources().values())


@lru_cache(maxsize=2)
def patterns(*packages: str) -> dict[re.Pattern[str] | re.Pattern[bytes], str]:
    """The patterns that stand in modules, all or those of some packages, with the module and name of each."""
    found: dict[re.Pattern[str] | re.Pattern[bytes], str] = {}
    for info in pkgutil.walk_packages(webrag_core.__path__, "webrag_core."):
        if packages and info.name.split(".")[1] not in packages:
            continue
        module = importlib.import_module(info.name)
        for name, value in list(vars(module).items()):
            for pattern in patterns_in(value):
                found.setdefault(pattern, f"{info.name}.{name}")
    return found


@cache  # many patterns stand in one table
def uses(name: str) -> set[str]:
    """How the product calls a pattern, as far as its text says so; all ways where it does not."""
    module, _, variable = name.rpartition(".")
    text = sources().get(module, "") if variable.startswith("_") else all_sources()
    calls = set(re.findall(rf"\b{re.escape(variable)}(?:\[[^\]]*\])?\.([a-z]+)\b", text)) & (
        SCANNING | {"match", "fullmatch"}
    )
    ways = calls - SCANNING
    return ways if calls and not calls & SCANNING else ways | {"finditer"}


def atoms(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[str]:
    """Strings whose repetition a pattern may trip over: its own signs and words, and pairs of them."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    source = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), source)
    signs = list(dict.fromkeys([*" a1", *(sign for sign in source if not sign.isalnum()), *"A\n\té_"]))[:24]
    words = list(dict.fromkeys(re.findall(r"[^\W\d_]{2,}", re.sub(r"\\[a-zA-Z]", " ", source))))[:12]
    pairs = ["".join(pair) for pair in itertools.permutations(signs[:9], 2)]
    mixed = [text for sign in signs[9:] for text in (f"{sign}a", f"a{sign}")]
    phrases = [text for word in words for text in (word, f"{word} ", f" {word} a ", f"{word}:", f"{word}(")]
    return list(dict.fromkeys([*signs, *pairs, *mixed, *phrases]))


def seconds(pattern: re.Pattern[str] | re.Pattern[bytes], atom: str, length: int, way: str) -> float:
    """Processor seconds of one use of the pattern on `length` characters of the atom."""
    text: str | bytes = (atom * length)[:length]
    if isinstance(pattern.pattern, bytes):
        text = text.encode()  # type: ignore[union-attr]
    begun = time.thread_time()
    if way == "finditer":
        for _ in pattern.finditer(text):  # type: ignore[type-var]
            pass
    else:
        getattr(pattern, way)(text)
    return time.thread_time() - begun


def grows(pattern: re.Pattern[str] | re.Pattern[bytes], atom: str, length: int, way: str, *, tries: int = 2) -> bool:
    """Whether four times the length costs more than a linear pattern could, each by the quickest of some tries."""
    shorter, longer = (min(seconds(pattern, atom, part, way) for _ in range(tries)) for part in (length, 4 * length))
    return longer > LARGEST_RATIO * shorter


def trouble(pattern: re.Pattern[str] | re.Pattern[bytes], name: str, tried: list[str]) -> str | None:
    """What a pattern does with one of the atoms, if it takes more than linear time."""
    bound = BOUNDED.get(name) or BOUNDED.get(name.rpartition(".")[0])
    longest = bound or CHARACTERS
    for atom, way in itertools.product(tried, sorted(uses(name))):
        for length in (*FIRST_LENGTHS, longest):
            if all(seconds(pattern, atom, length, way) > MOST_SECONDS for _ in range(2)):
                return f"{name} ({way}): more than {MOST_SECONDS} s for {length} characters of {atom!r}"
        if bound is not None:
            continue
        for length in (FIRST_LENGTHS[0], CHARACTERS):
            # a second step, and more tries, tell growth from a busy machine
            if seconds(pattern, atom, length, way) >= LEAST_SECONDS and all(
                grows(pattern, atom, part, way, tries=tries) for tries in (2, 7) for part in (length, 4 * length)
            ):
                return (
                    f"{name} ({way}): {seconds(pattern, atom, length, way):.4f} s for {length} characters of {atom!r}"
                )
    return None


def test_no_pattern_takes_more_than_linear_time_for_runs_of_a_sign() -> None:
    found = [trouble(pattern, name, atoms(pattern)[:2]) for pattern, name in patterns(*READ_IN_THE_SERVER).items()]
    assert "\n".join(problem for problem in found if problem) == ""


@pytest.mark.slow
def test_no_pattern_takes_more_than_linear_time_for_runs_of_its_own_signs_and_words() -> None:
    assert len(patterns()) > 600
    found = [trouble(pattern, name, atoms(pattern)) for pattern, name in patterns().items()]
    assert "\n".join(problem for problem in found if problem) == ""


def test_the_trial_finds_what_is_exponential() -> None:
    pattern = re.compile(r"(?: (?:called|\w{3,}ed))+$")
    assert "more than 0.1 s for" in str(trouble(pattern, "no.module.PATTERN", ["called "]))


def test_the_trial_finds_what_is_quadratic() -> None:
    assert grows(re.compile(r"\s*,x"), " ", 500, "finditer")
    assert grows(re.compile(r"\]\([^)\s]*\)"), "](", 1_000, "finditer")
    assert not grows(re.compile(r"(?<!\s)\s+,x"), " ", 5_000, "finditer")
