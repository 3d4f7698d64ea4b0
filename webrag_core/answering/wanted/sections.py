"""Lists that a question means by where they stand: under the name of a thing the steps that make it, or what it needs.
Rules for English, French, German."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.indexing.terms import terms
from webrag_core.late_pattern import late_pattern

_MAX_READ = 200
_THING = r"(?P<thing>[^?.,;:]+?)\W*$"
_TO_MAKE = (
    r"make|making|made|cook|cooking|prepare|preparing|bake|baking|build|building|create|creating"
    r"|faire|fait|préparer|prépare|cuisiner|cuisine|cuire|réaliser"
    r"|mache|macht|koche|kocht|backe|backt|bäckt|bereite|bereitet|baue|baut|zubereiten|backen|kochen|machen"
)
_STEPS = (
    late_pattern(
        rf"how\s+(?:(?:do|does|can|could|should|would|did)\s+\w+|to)\s+(?P<verb>\w+)\s+{_THING}", re.IGNORECASE
    ),
    late_pattern(
        rf"comment\s+(?:(?:puis[- ]je|peut[- ]on|dois[- ]je|doit[- ]on|faut[- ]il|je|on)\s+)?"
        rf"(?P<verb>\w+)(?:[- ](?:t[- ])?on)?\s+{_THING}",
        re.IGNORECASE,
    ),
    late_pattern(rf"wie\s+(?P<verb>\w+)\s+(?:ich|man|wir)\s+{_THING}", re.IGNORECASE),
    late_pattern(
        rf"(?:.{{0,40}}\s)?(?:recipe\s+for|recette\s+(?:de|du|des|d['’])|rezept\s+(?:für|von))\s*{_THING}",
        re.IGNORECASE,
    ),
    late_pattern(r"(?P<thing>[^?.,;:]+?)\s+(?:recipe|instructions|directions|rezept|zubereitung)\W*$", re.IGNORECASE),
)
_NEEDS = (
    late_pattern(
        rf"(?:what|which\s+\w+)\s+(?:(?:do|will|would|should|must)\s+(?:i|you|we)\s+)?need(?:ed)?\s+(?:for|in|to\s+(?P<verb>\w+))\s+{_THING}",
        re.IGNORECASE,
    ),
    late_pattern(rf"(?:what|which)\s+\w+\s+(?:are|is|goes?|belongs?)\s+in(?:to)?\s+{_THING}", re.IGNORECASE),
    late_pattern(rf"what(?:['’]s|\s+is|\s+are|\s+goes)\s+in(?:to)?\s+{_THING}", re.IGNORECASE),
    late_pattern(
        rf"(?:.{{0,40}}\s)?(?:ingredients|ingrédients|zutaten)\s+(?:(?:are\s+)?(?:for|of|in)|pour|de|du|des|d['’]|für|von|in)\s*{_THING}",
        re.IGNORECASE,
    ),
    late_pattern(r"(?P<thing>[^?.,;:]+?)\s+(?:ingredients|ingrédients|zutaten)\W*$", re.IGNORECASE),
    late_pattern(
        rf"(?:que\s+faut[- ]il|qu['’]est[- ]ce\s+qu['’]il\s+faut)\s+pour\s+(?:(?P<verb>\w+)\s+)?{_THING}", re.IGNORECASE
    ),
    late_pattern(rf"was\s+(?:brauch\w*|benötig\w*)\s+(?:ich|man|wir)\s+(?:für|zum)\s+{_THING}", re.IGNORECASE),
)
_OF_STEPS = late_pattern(
    r"\b(?:directions?|instructions?|methods?|procedures?|preparation|steps?|how\s+to"
    r"|préparation|étapes|réalisation|recette|marche\s+à\s+suivre|démarche|zubereitung|anleitung|schritte|vorgehen|ablauf)\b",
    re.IGNORECASE,
)
_OF_NEEDS = late_pattern(
    r"\b(?:ingredients?|(?:what\s+)?you(?:['’]ll|\s+will)?\s+need|requirements?|prerequisites?|materials?|equipment|supplies"
    r"|documents?\s+(?:needed|required)|tools|ingrédients?|matériel|prérequis|(?:pièces|documents)\s+à\s+fournir"
    r"|ce\s+qu['’]il\s+(?:vous\s+)?faut|zutaten|material|unterlagen|voraussetzungen)\b",
    re.IGNORECASE,
)
_ASIDE = late_pattern(  # behind the name of the thing: where or how it is made at all
    r"\s+(?:at\s+home|from\s+scratch|myself|yourself|à\s+la\s+maison|soi[- ]même|maison|selbst|zu\s+hause|zuhause)\s*$",
    re.IGNORECASE,
)
_NUMBERED = late_pattern(r"\s*\d{1,3}[.)]\s")
_BESIDE = late_pattern(r"\b(?:with|of|in|on|for|and|from|mit|und|aus|auf|von|für|avec|et|au|aux)\b", re.IGNORECASE)
_OTHER_NAMES = late_pattern(r"\s(?:or|ou|oder)\s|\s[/|–—-]\s|[()/:]")


@dataclass(frozen=True, slots=True)
class Section:
    """What a question asks for: the `thing`, the `verb` that is done to it ("" where it is made), and whether what it
    needs is asked for, instead of the steps."""

    thing: str
    verb: str
    needs: bool


def section_of(question: str) -> Section | None:
    """The section whose list `question` asks for; None where it asks for something else."""
    text = question.strip()[:_MAX_READ]
    for needs, patterns in ((True, _NEEDS), (False, _STEPS)):
        for pattern in patterns:
            match = pattern.match(text)
            if match is not None:
                verb = (match.groupdict().get("verb") or "").casefold()
                return Section(_ASIDE.sub("", match["thing"]), "" if re.fullmatch(_TO_MAKE, verb) else verb, needs)
    return None


def listed_for(units: Sequence[Unit], section: Section | None, *, of_a_kind: bool = False) -> NDArray[np.bool_]:
    """Which units stand in the lists that the section means, shape (units,): below a heading for such lists and one
    that names the thing, or one that does both; steps also in a numbered list below the name alone. What stands in
    sections further below counts on pages without a list above those. `of_a_kind`: what names a kind of the thing."""
    means = np.zeros(len(units), dtype=np.bool_)
    if section is None:
        return means
    names = _names_kind if of_a_kind else _names
    depths = {
        index: depth for index, unit in enumerate(units) if (depth := _depth_below(unit, section, names)) is not None
    }
    least: dict[int, int] = {}
    for index, depth in depths.items():
        version = units[index].chunk.version_id
        least[version] = min(depth, least.get(version, depth))
    for index, depth in depths.items():
        means[index] = depth == least[units[index].chunk.version_id]
    return means


def _depth_below(unit: Unit, section: Section, names: Callable[[str, Section, str | None], bool]) -> int | None:
    """How many headings stand between the headings that mean a list and an item of it; None for another unit."""
    if not (unit.is_listed if section.needs else unit.is_item):
        return None
    path = (unit.chunk.title or "", *unit.heading_path)
    name = next((place for place, text in enumerate(path) if names(text, section, unit.chunk.language)), None)
    if name is None:
        return None
    announces = _OF_NEEDS if section.needs else _OF_STEPS
    last = len(path) - 1
    place = next((place for place, text in enumerate(path) if announces.search(text)), None)
    if place is not None:
        return last - max(name, place)
    is_numbered = not section.needs and _NUMBERED.match(unit.slice((unit.start, unit.end))) is not None
    return 0 if is_numbered and name == last else None


@lru_cache(maxsize=512)  # asked for each unit of the evidence
def _names(heading: str, section: Section, language: str | None) -> bool:
    """Whether a heading, or one of the names that it gives, has the words of the thing and no others."""
    thing = _words(section.thing, language) | (_words(section.verb, language) if section.verb else frozenset())
    return bool(thing) and any(_words(name, language) == thing for name in _all_names(heading))


@lru_cache(maxsize=512)
def _names_kind(heading: str, section: Section, language: str | None) -> bool:
    """Whether a heading names a kind of the thing: "Beef Goulash" of goulash, by the last words before "with …"."""
    thing = _listed_words(section.thing, language)
    heads = (_listed_words(_BESIDE.split(name)[0], language)[-len(thing) :] for name in _all_names(heading))
    return not section.verb and bool(thing) and thing in heads


def _all_names(heading: str) -> Iterator[str]:
    yield heading
    yield from _OTHER_NAMES.split(heading)


def _words(text: str, language: str | None) -> frozenset[str]:
    return frozenset(_listed_words(text, language))


def _listed_words(text: str, language: str | None) -> list[str]:
    return [word for word in terms(text, language) if word not in _fillers()]


@lru_cache(maxsize=1)
def _fillers() -> frozenset[str]:
    """Terms that are no part of a thing's name."""
    return frozenset(
        terms(f"how to {_TO_MAKE.replace('|', ' ')} recipe homemade easy simple quick basic best perfect guide")
        + terms("mix dish style classic traditional original")
        + terms("instructions directions steps ingredients need requirements for of")
        + terms("comment recette facile rapide simple maison ingrédients pour étapes", "fr")
        + terms("wie rezept einfach schnell selbst zutaten für anleitung", "de")
    )
