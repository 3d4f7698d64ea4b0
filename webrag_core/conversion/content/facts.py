"""Facts in short texts: a price, a number with its unit, a date, a time, a telephone number, a version."""

from __future__ import annotations

import re

from webrag_core.acquisition.written_dates import MONTH

_CURRENCY = (
    r"(?:[$€£¥₹₽₩₺₫₴₪฿]|zł|Kč|(?:EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|BRL|kr|Fr|Ft)\b)"
)
_UNIT = (
    r"(?:%|‰|°|(?:[kMGT]i?B|[kKMGT]?[Bb]ytes?|bits?|[kmcn]?m[²³23]?|km/h|mph|sqm|qm|[kmµ]?g|lbs?|oz|[mcdh]?l|ft"
    r"|inch(?:es)?|[kM]?W(?:h|p)?|[kM]?Hz|m?Ah?|k?V|bar|psi|px|pt|dpi|rpm|dB|lm|K|N|Nm|PS|hp|ha|kcal|kJ"
    r"|h|hrs?|hours?|min|minutes?|sec|seconds?|days?|weeks?|months?|years?|people|persons?|pages?|pieces?|servings?"
    r"|Std|Stunden?|Minuten?|Sekunden?|Tage?n?|Wochen?|Monate?n?|Jahren?|Personen|Seiten|Stück|Portionen"
    r"|heures?|jours?|semaines?|mois|ans|années?|personnes|pièces|horas?|minutos?|días?|semanas?|meses|años|personas"
    r"|ore|minuti|giorni|settimane|mesi|anni|persone|uur|dagen|weken|maanden|godzin|dni|часов|минут|дней|лет)\b"
    r"|[年月日時时分秒元円个個名])"
)
_QUANTITY = re.compile(
    rf"\d[\d.,' \u00a0\u202f]{{0,30}}+-?[ \u00a0\u202f]?(?:{_CURRENCY}|{_UNIT})(?! read\b)"
    rf"|{_CURRENCY}[ \u00a0\u202f]?\d"
    r"|\+\d{1,3}[\s(]|\(?\b0\d{1,5}\)?[ /-]\d{2,}"  # of telephones
    r"|\bv\d+\.\d|\b\d+\.\d+\.\d{1,3}\b|\bversion \d",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b\d{{1,2}}(?:\.|er|º|st|nd|rd|th)?\s(?:de |of )?(?:{MONTH})\b|\b(?:{MONTH})\.?\s\d{{1,2}}\b"
    r"|\b\d{1,2}(?:\.|º)?\s(?:de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s)?(?:19|20)\d\d\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./]\s?\d{1,2}[./]\s?(?:\d\d){1,2}\b"
    r"|\b\d{1,2}[:h]\d\d\b|\b\d{1,2}\s?(?:[ap]\.?m\b|Uhr\b)",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 160


def states_quantity(text: str) -> bool:
    """Whether a text of at most 160 characters holds a price, a number with its unit, a telephone or a version."""
    return _may_state(text) and _QUANTITY.search(_TIME.sub(" ", text)) is not None


def states_fact(text: str) -> bool:
    """Whether a text of at most 160 characters holds one of them, a date or a time."""
    return _may_state(text) and (_QUANTITY.search(text) or _TIME.search(text)) is not None


def _may_state(text: str) -> bool:
    return len(text) <= _MAX_CHARACTERS and not text.isalpha()
