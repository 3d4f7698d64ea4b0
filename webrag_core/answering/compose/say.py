"""From a unit of the evidence to a sentence: its words, with the heading before it where it would not stand alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.answering.compose.units import Unit
from webrag_core.answering.models import Proof
from webrag_core.answering.proof.moves import trimmed, under
from webrag_core.answering.proof.prove import Quoted, prove

_NEEDS_CONTEXT = re.compile(
    r"(?:(?:Changed|New|Added|Removed|Deprecated) (?:in|since)"
    r"|This|That|These|Those|It|Its|They|Their|Such|Here|He|She|The (?:function|method|option|command|default|value"
    r"|latter|former|first|second|same|above|following|argument|parameter|module|class|setting|directive|attribute))\b"
    r"|[a-z]"
)
_MAX_HEADING = 80


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence made of one unit, with its proof."""

    text: str
    proof: Proof
    unit: Unit

    @property
    def words(self) -> int:
        """Words of the sentence."""
        return len(self.text.split())


def say(unit: Unit) -> Saying | None:
    """The unit as a sentence; None when it only announces what follows, asks something, or cannot be proved."""
    text = unit.text
    if text.endswith(":") or (text.endswith("?") and unit.kind != "code"):
        return None
    if unit.kind not in ("code", "table"):
        text = trimmed(text)
    if unit.kind != "code" and needs_context(unit):
        text = under(heading_of(unit), text)
    quotes = quotes_of(unit)
    proof = prove(text, quotes)
    return None if proof is None else Saying(text, proof, unit)


def needs_context(unit: Unit) -> bool:
    """Whether the unit speaks of something that only its heading names."""
    heading = heading_of(unit)
    if not heading or len(heading) > _MAX_HEADING or heading.casefold() in unit.text.casefold():
        return False
    return "definition_list" in unit.flags or unit.kind == "table" or bool(_NEEDS_CONTEXT.match(unit.text))


def heading_of(unit: Unit) -> str:
    """The nearest heading or term above the unit, else the page's title."""
    return unit.heading_path[-1] if unit.heading_path else unit.chunk.title or ""


def quotes_of(unit: Unit) -> list[Quoted]:
    """What the sentence cites, as the proof sees it."""
    headings = (*unit.heading_path, *([unit.chunk.title] if unit.chunk.title else []))
    return [Quoted(unit.slice(span), unit.kind, headings) for span in unit.spans]
