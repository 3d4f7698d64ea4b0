"""Phrases with which a text begins to say when it holds, in English, German, French and Italian."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from webrag_core.acquisition.written_dates import Order
from webrag_core.late_pattern import late_pattern

ValidityKind = Literal["in_force", "applicable", "published", "release"]
Role = Literal["from", "until", "ended"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """The day behind it begins a time of this kind (`from`), is its last (`until`), or the first after it (`ended`)."""

    kind: ValidityKind
    role: Role
    order: Order
    pattern: re.Pattern[str]


_MARKS = r"[ \t]*(?:#{1,6}[ \t]+|[-*+|][ \t]+)?[*_(\[]*"


def _phrases(kind: ValidityKind, role: Role, order: Order, *alternatives: str) -> Phrase:
    return Phrase(kind, role, order, late_pattern(rf"{_MARKS}(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE))


PHRASES = (
    _phrases(
        "in_force",
        "from",
        "unknown",
        r"(?:version )?(?:in force|in effect|effective|valid)(?: date)?(?: from| since| as of| as from| on)?",
        r"(?:entry into force|(?:enters|entered|came|comes) into force)(?: on)?",
    ),
    _phrases(
        "in_force",
        "until",
        "unknown",
        r"(?:valid|in force|effective|in effect) (?:until|through|to)",
        r"expir(?:es|ed|y date)(?: on)?",
    ),
    _phrases(
        "in_force",
        "ended",
        "unknown",
        r"repealed(?: with effect)?(?: from| on| as of)?",
        r"no longer in force (?:since|from|as of)",
    ),
    _phrases(
        "in_force",
        "from",
        "day_first",
        r"(?:in kraft|gültig|wirksam)(?: seit| ab| vom| von)?(?: dem)?",
        r"inkrafttreten|in kraft getreten am|tritt in kraft am|gültigkeitsbeginn",
        r"(?:version |texte )?en vigueur(?: depuis le| à compter du| à partir du| au| le| du)?",
        r"(?:date d.)?entrée en vigueur(?: le)?",
        r"valable (?:à partir|à compter) du",
        r"(?:versione |testo )?in vigore(?: dal(?:l.)?| dal giorno)?",
        r"(?:data di )?entrata in vigore(?: il| del)?",
        r"valid[oa] dal(?:l.)?",
    ),
    _phrases(
        "in_force",
        "until",
        "day_first",
        r"(?:gültig|in kraft) bis(?: zum)?",
        r"(?:en vigueur|valable) jusqu.au",
        r"(?:in vigore|valid[oa]) fino al(?:l.)?",
    ),
    _phrases(
        "in_force",
        "ended",
        "day_first",
        r"außer kraft(?: seit| ab| getreten am)?",
        r"aufgehoben (?:am|mit wirkung vom|ab|seit)",
        r"abrogée?(?: le| depuis le| à compter du)",
        r"abrogat[oa](?: dal(?:l.)?| il)",
    ),
    _phrases("applicable", "from", "unknown", r"(?:applicable|applies) (?:from|as of|as from)", r"date of application"),
    _phrases(
        "applicable",
        "from",
        "day_first",
        r"(?:anwendbar|anzuwenden) (?:ab|seit)(?: dem)?",
        r"applicable (?:à partir du|à compter du|depuis le)",
        r"applicabile dal(?:l.)?",
    ),
    _phrases(
        "published",
        "from",
        "unknown",
        r"(?:last|date) (?:updated|modified|revised|reviewed)(?: on)?",
        r"(?:updated|published|revised)(?: on)?",
        r"(?:date of )?last (?:update|revision|change)",
    ),
    _phrases(
        "published",
        "from",
        "day_first",
        r"(?:zuletzt|letzte) (?:aktualisiert|geändert|aktualisierung|änderung)(?: am)?",
        r"stand|veröffentlicht(?: am)?",
        r"(?:date de )?(?:la )?derni[èe]re (?:mise à jour|modification)(?: le)?",
        r"mis à jour(?: le)?|publiée?(?: le)?",
        r"ultim[oa] (?:aggiornamento|modifica)",
        r"aggiornat[oa](?: al| il)|pubblicat[oa](?: il)?",
    ),
    _phrases("release", "from", "unknown", r"release(?:d| date)(?: on)?|date of release"),
    _phrases(
        "release",
        "from",
        "day_first",
        r"(?:veröffentlichungs|erscheinungs)datum",
        r"date de (?:sortie|publication)",
        r"data di (?:rilascio|pubblicazione)",
    ),
)
BEFORE_DATE = late_pattern(
    r"[ \t*_:|.\])–-]*(?:(?:on|from|am|ab|le|du|il|dal|the)\s+)?"
    r"(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|(?:lune|marte|mercole|giove|vener)d[iì]|sabato|domenica),?\s+)?",
    re.IGNORECASE,
)
"""Between a phrase and its day: marks, a preposition, a day of the week. May be empty."""
UNTIL = late_pattern(
    r"[ \t*_,]*(?:until|through|till|to|bis(?: zum)?|jusqu.au|au|fino al(?:l.)?|al(?:l.)?|–|—|-)[ \t]+", re.IGNORECASE
)
"""Between the first and the last day of a time."""
REST = late_pattern(
    r"(?:[ T,]*(?:at |um |à |alle )?\d{1,2}[:.h]\d\d(?::\d\d)?(?: ?(?:am|pm|uhr|z|utc|gmt|cet|cest))?)?"
    r"(?:[ \t*_)\]|.]*|[ \t*_]*[;(·•|–—].*)",
    re.IGNORECASE,
)
"""What may stand behind the day: a time of day, marks, or something set apart."""
