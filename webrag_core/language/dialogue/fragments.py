"""A question without a verb ("and in version 2?", "for children?"), put into the English question that it follows."""

from __future__ import annotations

import re

from webrag_core.language.dialogue.topics import AUXILIARIES, Topic, names_of
from webrag_core.language.stop_words import ENGLISH

_PREPOSITIONS = "for|in|on|with|without|of|from|at|by|to|under|until|before|after|since|as|via|outside|inside|over"
_PREPOSITION = re.compile(rf"^({_PREPOSITIONS})\b ", re.I)
_ARTICLE = re.compile(r"^(the|an?|my|your|our|their|his|her|its)\b ", re.I)
_STOP = (
    r"(?= (?:for|in|on|with|without|of|from|at|by|to|under|until|before|after|since|as|via|if|when|and|or|that|which|do"
    r"|does|did|is|are|was|were|can|be|retire|last|need|work|have|has|cost|called)\b|[,;?!]|$)"
)
_WORD = re.compile(r"[\w'’-]+(?:[./:]+[\w'’-]+)*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_INVERTED = re.compile(rf"^(?:{'|'.join(AUXILIARIES)})\b", re.I)
_MEANS = re.compile(r"\b(?:with|via|using|from|through|on|in) ([\w.+-]+)$")
_BEGINS = re.compile(r"[A-Za-z]{2,}[/ .-]?(?=\d)")
_OF_MEANS = frozenset(["on", "with", "via", "from"])  # whose names people type without capitals
_LONGEST_PUT = 5  # words of a topic that another thing stands for
_OF = re.compile(r"\bthe ((?:\w+ ){0,3}\w+) of ", re.I)


def put_in(question: str, fragment: str, topic: Topic) -> str:
    """The earlier question about what the fragment names: in the place of what is of its sort, else behind it."""
    body = question.rstrip(" ?.!…")
    preposition = _PREPOSITION.match(fragment)
    thing = fragment[preposition.end() :] if preposition else fragment
    put = _other_number(body, thing)
    if put is None and preposition:
        put = _other_way(body, preposition[0].strip(), thing) or _in_its_phrase(body, preposition[1].lower(), thing)
    if put is None:
        put = _for_its_like(body, thing, topic, bare=preposition is None)
    if put is not None and _INVERTED.match(body) and not _keeps_words(body, put, thing):
        put = None
    joint = " " if preposition else ", "
    return f"{put or body + joint + fragment}?"


def _keeps_words(body: str, put: str, thing: str) -> bool:
    """Whether more of the earlier question is left than its form."""
    left = {word.lower() for word in _WORD.findall(put.replace(thing, ""))} - ENGLISH
    return bool(left & {word.lower() for word in _WORD.findall(body)})


def _in_its_phrase(body: str, preposition: str, thing: str) -> str | None:
    """The phrase of the same preposition in another way, where both are of the same sort."""
    phrases = list(re.finditer(rf"\b{preposition} (.+?){_STOP}", body, re.I))
    for phrase in reversed(phrases):
        sorts = {_sort(phrase[1]), _sort(thing)}
        are_words = preposition in _OF_MEANS and "number" not in sorts and " " not in f"{phrase[1]}{thing}"
        if preposition in ("of", "by") or len(sorts) == 1 or are_words:
            return f"{body[: phrase.start(1)]}{thing}{body[phrase.end(1) :]}"
    return None


def _other_number(body: str, thing: str) -> str | None:
    """ "version 2" in the place of "version 1", and a year in the place of the only other year."""
    years = list(_YEAR.finditer(body))
    if _YEAR.fullmatch(thing) and len(years) == 1:
        return f"{body[: years[0].start()]}{thing}{body[years[0].end() :]}"
    numbered = re.fullmatch(r"(?:the )?(\w+) (\d[\w.]*)", thing)
    match = None if numbered is None else re.search(rf"\b{numbered[1]} \d[\w.]*", body, re.I)
    return None if match is None else f"{body[: match.start()]}{thing}{body[match.end() :]}"


def _other_way(body: str, preposition: str, thing: str) -> str | None:
    """ "without X" in the place of "with X"."""
    match = re.search(rf"\b(?:{_PREPOSITIONS}) {re.escape(thing)}(?!\w)", body, re.I)
    return None if match is None else f"{body[: match.start()]}{preposition} {thing}{body[match.end() :]}"


def _for_its_like(body: str, thing: str, topic: Topic, *, bare: bool) -> str | None:
    """The thing in the place of what has the same head, the same article, or is the only name; of a question about a
    quality of a name, that quality."""
    head = _head(thing)
    if span := _same_head(body, thing, head):
        start, end = span
        return f"{body[:start]}{thing}{body[end:]}"
    if _is_name(thing) and (span := _only_name(body, thing)):
        start, end = span
        article = re.search(r"\b(?:the|an?) $", body[:start], re.I)
        begin = article.start() if article and (_ARTICLE.match(thing) or bare) else start
        return f"{body[:begin]}{thing}{body[end:]}"
    if not bare:
        return None
    article = _ARTICLE.match(thing)
    if article and article[1].lower() == "the" and not _is_name(thing) and (quality := _OF.search(body)):
        return f"{body[: quality.start()]}{thing}{body[quality.end(1) :]}"
    if article and article[1].lower() != "the":
        same = "an?" if article[1].lower() in ("a", "an") else article[1]
        alike = list(re.finditer(rf"\b(?:{same}) .+?{_STOP}", body, re.I))
        if alike:
            return f"{body[: alike[-1].start()]}{thing}{body[alike[-1].end() :]}"
    if article is None and " " not in thing and (means := _MEANS.search(body)):
        return f"{body[: means.start(1)]}{thing}"
    for whole in filter(None, (topic.noun, topic.owner)):
        at = body.find(whole)
        if at >= 0 and whole != body and not names_of(whole) and len(whole.split()) <= _LONGEST_PUT:
            return f"{body[:at]}{thing}{body[at + len(whole) :]}"
    return None


def _only_name(body: str, thing: str) -> tuple[int, int] | None:
    """The name that another may stand for: the only one, else the only one with the same article and ending, else the
    last one behind a preposition."""
    spans = names_of(body)
    if len(spans) < 2:
        return spans[0] if spans else None
    begin = _BEGINS.match(thing)
    akin = [span for span in spans if begin and body[span[0] : span[1]].lower().startswith(begin[0].lower())]
    if len(akin) == 1:
        return akin[0]
    article = _ARTICLE.match(thing)
    plural = thing.endswith("s")
    alike = [
        (start, end)
        for start, end in spans
        if bool(re.search(r"\b(?:the|an?) $", body[:start], re.I)) == (article is not None)
        and (article is None or body[start:end].endswith("s") == plural)
    ]
    if len(alike) == 1:
        return alike[0]
    behind = [span for span in alike or spans if re.search(rf"\b(?:{_PREPOSITIONS}) (?:the )?$", body[: span[0]], re.I)]
    return behind[-1] if behind else None


def _same_head(body: str, thing: str, head: str) -> tuple[int, int] | None:
    """The span of a phrase in the question that ends with the head of `thing`, from its article on."""
    for match in _WORD.finditer(body):
        if match.start() and _stem(match[0]) == head and match[0].lower() != thing.lower():
            count = max(len(thing.split()) - 1, 0)
            before = body[: match.start()].rstrip()
            article = list(re.finditer(r"\b(?:the|an?|my|your) ", body[: match.start()], re.I))
            if article and len(body[article[-1].end() : match.start()].split()) <= max(count, 3):
                return article[-1].start() if _ARTICLE.match(thing) else article[-1].end(), match.end()
            if count == 0 or not before:
                return match.span()
    return None


def _head(thing: str) -> str:
    words = _WORD.findall(re.split(r" (?:of|for|in|with|that|from) ", thing)[0])
    return _stem(words[-1]) if words else ""


def _stem(word: str) -> str:
    return word.lower().split("-")[-1].removesuffix("s")


def _is_name(thing: str) -> bool:
    return bool(names_of(f"x {_ARTICLE.sub('', thing)}"))


def _sort(thing: str) -> str:
    """Number, name or kind: what may stand for another in a question."""
    if re.search(r"\d", thing):
        return "number"
    return "name" if _is_name(thing) else "kind"
