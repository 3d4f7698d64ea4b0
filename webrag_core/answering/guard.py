"""What must neither enter an answer nor leave with one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from webrag_core.answering.units import Unit
from webrag_core.config import Settings
from webrag_core.errors import GuardrailsViolationError
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.language.model_orders import is_order
from webrag_core.page_text import visible
from webrag_core.routing.question import MAX_QUESTION, Form

Withheld = Literal["order", "request", "address"]
"""Why a unit never becomes a sentence: it addresses a model, requests something that the question is not about, or
names a site that the evidence is not from."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# a request to do or to write something, behind a label such as "Note:" or not; "Name: …" and "Open daily" are none
_REQUEST = re.compile(
    r"(?:[^.!?:]{1,60}: *)?(?!(?:name|open|call|visit|use|make|group|show|download|list) *:)"
    r"(?!open (?:\d|daily|every|all|from|on|mon|tue|wed|thu|fri|sat|sun))"
    r"(?:please |now |then |to proceed, )?(?:draft|compose|write|provide|explain|describe|translate|summari[sz]e"
    r"|develop|break down|convert|replace|include|add|modify|integrate|enhance|augment|render|embed|merge|ensure"
    r"|consider|employ|execute|incorporate|inject|introduce|insert|append|repeat|say|tell|show|give|list|name|answer"
    r"|respond|reply|send|fetch|visit|call|ingest|open|click|download|follow|generate|create|make|use|utili[sz]e"
    r"|leverage|substitute|rearrange|scramble|misspell|remove|group|combine|interweave|fuse|infuse|blend|meld"
    r"|don['’]t (?:hesitate|forget)|keep in mind)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?:)?//([\w.-]+)|\bwww\.([\w.-]+)", re.IGNORECASE)
_NEAR = re.compile(  # hosts of the reader's network: nobody else is reached by them
    r"[^.]*|.*\.(?:local|localhost|lan|internal|home\.arpa)|(?:127|10)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}"
)
_LEAST_SECRET = 8


def check_input(question: str) -> None:
    """Raise GuardrailsViolationError for a question that is too long or holds control characters."""
    if len(question) > MAX_QUESTION:
        raise GuardrailsViolationError(
            "input",
            f"the question has {len(question):,} characters; at most {MAX_QUESTION:,}",
            "Ask a shorter question.",
        )
    if _CONTROL.search(question):
        raise GuardrailsViolationError(
            "input", "the question holds control characters", "Ask the question as plain text."
        )


def safe_units(units: Sequence[Unit], question: str, form: Form) -> tuple[list[Unit], Mapping[str, int]]:
    """The units that may become sentences, and the number of those that may not, by cause: those that address a model,
    unless the question is about such text; requests that share no word with a question that wants no steps; those with
    an address of a site that the evidence is not from, but for hosts of a local network. What stands behind one of the
    first two counts with it."""
    hosts = {_host(unit.chunk.source_url) for unit in units}
    language = detected(question)
    words = set(terms(question, language))
    about_orders = is_order(question)
    safe: list[Unit] = []
    withheld: Counter[str] = Counter()
    before: tuple[Unit, Withheld] | None = None
    for unit in units:
        text = visible(unit.text)
        cause: Withheld | None = None
        if not about_orders and is_order(text):
            cause = "order"
        elif not about_orders and form not in ("steps", "list") and _strange_request(text, words, language):
            cause = "request"
        elif before is not None and _continues(before[0], unit):
            cause = before[1]
        if cause is not None:
            before = (unit, cause)
        elif not _addresses(unit.text) <= hosts:
            cause = "address"
        if cause is None:
            safe.append(unit)
        else:
            withheld[cause] += 1
    return safe, withheld


def _strange_request(text: str, words: set[str], language: str | None) -> bool:
    """Whether `text` requests something that has no word in common with the question."""
    request = _REQUEST.match(text)
    return request is not None and words.isdisjoint(terms(text[request[0].find(":") + 1 :], language))


def _continues(order: Unit, unit: Unit) -> bool:
    """Whether `unit` stands in the same block behind an order: it may be what is to be repeated."""
    same = order.chunk.chunk_id == unit.chunk.chunk_id and order.end <= unit.start
    return same and "\n\n" not in order.slice((order.end, unit.start))


def check_output(texts: Iterable[str], settings: Settings) -> None:
    """Raise GuardrailsViolationError when a text holds one of the settings' secrets."""
    secrets = [
        value.get_secret_value()
        for _, value in settings
        if isinstance(value, SecretStr) and len(value.get_secret_value()) >= _LEAST_SECRET
    ]
    for text in texts:
        if any(secret in text for secret in secrets):
            raise GuardrailsViolationError(
                "output", "a sentence holds a secret of the settings", "The answer was withheld."
            )


def _addresses(text: str) -> set[str]:
    hosts = {(match[1] or match[2]).casefold().removeprefix("www.").rstrip(".") for match in _ADDRESS.finditer(text)}
    return {host for host in hosts if not _NEAR.fullmatch(host)}


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")
