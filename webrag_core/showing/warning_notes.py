"""Warnings of a result as notes; what is alike on many pages is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from webrag_core.readable import counted
from webrag_core.result_warnings import Caution
from webrag_core.showing.elements import Note

_ALIKE = 3
"""Pages from which warnings that differ in quoted words alone are one note: two can be read."""
_QUOTED = re.compile("“[^”]*”|[0-9]+")


def warning_notes(warnings: Sequence[str]) -> list[Note]:
    """A note for each warning, in their order.

    Of those about three pages or more that say the same but for quoted words and numbers, the first stands, with the
    number of the others. The result itself, in JSON, has them all.
    """
    alike: dict[str, list[Caution]] = {}
    for warning in map(Caution.load, warnings):
        alike.setdefault(str(warning) if warning.about is None else _QUOTED.sub("", warning.message), []).append(
            warning
        )
    notes: list[str] = []
    for kind in alike.values():
        if len(kind) < _ALIKE or len({warning.about for warning in kind}) < _ALIKE:
            notes += map(str, kind)
        else:
            notes.append(f"{kind[0]} (likewise on {counted(len(kind) - 1, 'other page')})")
    return [Note(f"Warning: {text}", "problem") for text in notes]
