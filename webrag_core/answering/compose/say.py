"""From a unit of the evidence to a sentence: its words, with the heading before it where it would not stand alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.answering.models import Proof
from webrag_core.answering.proof.moves import trimmed, under
from webrag_core.answering.proof.prove import Quoted, prove
from webrag_core.answering.units import Unit
from webrag_core.language.word_count import word_count

_NEEDS_CONTEXT = re.compile(
    r"(?:(?:Changed|New|Added|Removed|Deprecated) (?:in|since)"
    r"|This|That|These|Those|It|Its|They|Their|Such|Here|He|She|The (?:function|method|option|command|default|value"
    r"|latter|former|first|second|same|above|following|argument|parameter|module|class|setting|directive|attribute))\b"
    r"|[a-z]"
)
_MAX_HEADING = 80
_FEW_WORDS = 4  # a telephone number, a name: its heading says what it is


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence made of one unit, with its proof."""

    text: str
    proof: Proof
    unit: Unit

    @property
    def words(self) -> int:
        """Words of the sentence."""
        return word_count(self.text)


def say(unit: Unit, *, introduces: bool = False, label: str = "", alone: bool = True) -> Saying | None:
    """The unit as a sentence; None when it only announces what follows, unless it `introduces` what is said behind it,
    when it asks something, and when it cannot be proved. `label`: the heading or title that is said before it.
    Without, its nearest heading is where it would not stand `alone`."""
    text = unit.text
    if (text.endswith(":") and not introduces) or unit.asks:
        return None
    if unit.kind not in ("code", "table"):
        text = trimmed(text)
    if label and unit.kind != "code":
        text = under(label, text)
    elif alone and unit.kind != "code" and needs_context(unit):
        text = under(heading_of(unit), text)
    quotes = quotes_of(unit)
    proof = prove(text, quotes)
    return None if proof is None else Saying(text, proof, unit)


def needs_context(unit: Unit) -> bool:
    """Whether the unit speaks of something that only its heading names."""
    heading = heading_of(unit)
    if not heading or len(heading) > _MAX_HEADING or heading.casefold() in unit.text.casefold():
        return False
    if "definition_list" in unit.flags or unit.kind == "table" or bool(_NEEDS_CONTEXT.match(unit.text)):
        return True
    return word_count(unit.text) < _FEW_WORDS and not unit.lead


def heading_of(unit: Unit) -> str:
    """The nearest heading or term above the unit, else the page's title."""
    return unit.heading_path[-1] if unit.heading_path else unit.chunk.title or ""


def quotes_of(unit: Unit) -> list[Quoted]:
    """What the sentence cites, as the proof sees it."""
    headings = (*unit.heading_path, *([unit.chunk.title] if unit.chunk.title else []))
    return [Quoted(unit.slice(span), unit.kind, headings) for span in unit.spans]
