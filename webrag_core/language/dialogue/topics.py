"""What an English question is about: the thing, the deed, the name that a later question may mean by a pronoun."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.language.stop_words import ENGLISH
from webrag_core.late_pattern import late_pattern

AUXILIARIES = (
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "should", "would", "will", "may", "might", "must",
    "shall", "has", "have", "had",
)  # fmt: skip
ALTERING = r"(?:chang|adjust|configur|customi[sz]|decreas|extend|increas|lower|modif|overrid|rais|reduc|shorten)"
"""Pattern of the beginnings of verbs that give a thing another value."""
_AUX = "|".join(AUXILIARIES)
_SOMEBODY = r"(?:i|you|we|one|he|she|they|it|people|someone|somebody|anybody|anyone|everybody)"
_LEAD = late_pattern(r"^(?:(?:and|but|so|or|also|then|please)\b[,;:]?\s+)+", re.I)
_PARTICLE = r"(?:(?:up|off|out|on|in|down|over|back|away)\b (?=\S))?"
_DEED = late_pattern(
    rf"^(?:(?:how|where|when|why|what)\b ?)?(?:(?:{_AUX})\b {_SOMEBODY}\b|to\b)"
    rf" ?(?:(?:have|need|want|get) to )?(?:not )?(?P<deed>(?P<verb>\w+) {_PARTICLE}(?P<noun>.+))$",
    re.I,
)
_MAKING = frozenset(["add", "build", "create", "get", "make", "open", "order", "register", "set", "start"])
_NEW = late_pattern(r"^(?:a new|another) ", re.I)  # not new any more in the question behind
_COMPARED = late_pattern(r"\bdifferences? (?:\w+ )*?between (?P<noun>.+)$", re.I)
_BEING = late_pattern(r"^(?:what|who|where|when|why|how(?: \w+)?)(?:['’]s| is| are| was| were)\s+(?P<noun>.+)$", re.I)
_KIND_WANTED = late_pattern(
    rf"^(?P<wh>(?:\w+ )?(?:what|which|whose|how many|how much)\b(?: (?!(?:{_AUX})\b)\S+){{1,8}}?) (?:{_AUX})\b"
    r" (?P<rest>.+)$",
    re.I,
)
_PLAIN = late_pattern(rf"^(?:\w+ )?(?:what|which|who|when|where|why|how(?: \w+)?) (?:{_AUX})\b (?P<rest>.+)$", re.I)
_SUBJECT = late_pattern(
    r"^(?:who|what|(?:which|how many|how much)\b (?P<many>\S+?s|people|men|women|children)(?: \w+(?= \w+s? ))?)"
    rf"\s+(?!(?:{_AUX})\b)\w+ (?P<noun>.+)$",
    re.I,
)
_SELECTED = late_pattern(
    r"^which (?P<kind>(?!\w+s\b|(?:two|three|four|five|six|seven|other)\b)\w+(?: (?!\w+s\b)\w+)*) (?P<rest>\w+s .+)$",
    re.I,
)
_OPENED = late_pattern(rf"^(?:{_AUX})\b (?P<rest>.+)$", re.I)
# each word is read in one way only: "called" ends in "ed" too, and two ways for each word are 2 ** n for n of them
_ENDS = late_pattern(
    r"(?> (?:good for|for|like|about|called|named|made of|made|built|kept|put|found|sold|used|there|work|works|mean"
    r"|means|take|last|cost|start|begin|end|stop|open|close|happen|expire|retire|need|have|contain|live|stay|serve|come|exist"
    r"|\w{3,}ed)\b)+$",
    re.I,
)
_VERB = late_pattern(
    r" (?:accept|allows?|asks?|become|belong|call|comes?|contains?|cost|draw|ends?|gets?|have|has|hold|includes?|keeps?"
    r"|know|last|lets?|lives?|makes?|means?|needs?|offers?|provides?|requires?|serve|start|stays?|supports?|take|uses?"
    r"|works?|\w{3,}ed|be)\b.*$",
    re.I,
)
_HOLDS = late_pattern(
    r"^(?P<subject>.+?) (?:have|support|use|include|contain|offer|provide|need|require|allow|accept) (?P<object>.+)$",
    re.I,
)
_MEASURES = frozenset(
    re.findall(
        r"\w+",
        """days day hours hour minutes months month years year weeks age time times people people money cost price date
        percent size share part amount number many much""",
    )
)
_FORM = late_pattern(
    r"^(?:how|what|which|who|where|when|why)\b(?:['’]s)?(?: (?:long|much|many|often|far|old|soon))?"
    rf" ?(?:(?:{_AUX})\b ?)?(?:{_SOMEBODY}\b ?)?|^(?:{_AUX})\b (?:{_SOMEBODY}\b ?)?",
    re.I,
)
_PREPOSITION = late_pattern(r"^(?:on|in|at|to|for|from|of|with|by)\s+(?=\S)", re.I)
_VALUE_WANTED = late_pattern(
    r"^(?P<wh>where|when|how (?:long|often|large|big|high|fast|wide|deep|strong|hot)|how (?:many|much)(?: \S+){0,3}?)"
    r" (?P<aux>is|are|was|were|does|do) (?P<rest>.+)$",
    re.I,
)
_STATE = late_pattern(
    r"^(?:(?P<subject>.+?) )?(?P<state>(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bmy )(?<!\byour )"
    r"(?:\w{3,}ed|built|drawn|held|kept|made|put|run|set|shown|sold|written|valid|open)\b.*)$",
    re.I,
)
_ARTICLE = late_pattern(r"^(?:the|an?|my|your|our|their|his|her|its|this|that|these|those|any|some)\s+", re.I)
_DATE = late_pattern(
    r"\d|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b(?! \w+ [A-Z])"
)
_NAME = late_pattern(
    r"(?:[A-Z0-9][\w.'’+/-]*|[a-z]+[A-Z_][\w.]*|\w+[._/]\w[\w./]*)(?: (?:of )?(?:[A-Z0-9][\w.'’+/-]*))*"
)
_OF_NAME = late_pattern(rf"\bof ((?:the )?{_NAME.pattern})$")


@dataclass(frozen=True, slots=True)
class Topic:
    """`noun` is the thing, `whole` all that is said of it. `deed` is what somebody wants to do (a verb and its object),
    `name` the name that something belongs to, `named` a name with its article, `many` things in the plural; "" where
    there is none. `place` is "in" or "on", `owner` what something is of, `object` what the thing supports, has or
    uses."""

    noun: str
    whole: str
    deed: str = ""
    name: str = ""
    named: str = ""
    many: str = ""
    place: str = "in"
    owner: str = ""
    object: str = ""

    @property
    def without_article(self) -> str:
        """The thing as a kind of things."""
        return _ARTICLE.sub("", self.noun)


def names_of(text: str) -> list[tuple[int, int]]:
    """The spans of names in a question: words with capitals, not dates; the first word only where it has more capitals
    than its first letter."""
    spans = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        if start == 0:
            head = match[0].split()[0]
            if not re.search(r"\w[A-Z0-9_.]\w", head):
                start += len(head) + 1
        end -= len(text[start:end]) - len(text[start:end].rstrip("'’.-"))
        if start < end and text[start:end] not in ("I", "I'm", "I've") and not _DATE.match(text[start:end]):
            spans.append((start, end))
    return spans


def topic_of(question: str) -> Topic:
    """What the question is about. `question` is complete, its white space collapsed."""
    text = _LEAD.sub("", question).rstrip(" ?.!…")
    deed = many = thing = ""
    if match := _COMPARED.search(text):
        noun = match["noun"]
    elif match := _DEED.match(text):
        noun, deed = match["noun"], match["deed"]
        if match["verb"].lower() in _MAKING:
            noun = _NEW.sub("an " if re.match(r"\w+ (?:new )?[aeio]", noun, re.I) else "a ", noun)
    elif match := _BEING.match(text):
        noun = _ENDS.sub("", match["noun"]) or match["noun"]
    elif match := _KIND_WANTED.match(text):
        kind = re.sub(r"^(?:\w+ )?(?:what|which|whose|how many|how much) ", "", match["wh"], flags=re.I)
        rest = re.sub(rf"^{_SOMEBODY}\b ?(?:(?:have|need|want) to )?(?:\w+ ?)?(?:to )?", "", match["rest"], flags=re.I)
        subject = _VERB.sub("", _ENDS.sub("", rest))
        measured = kind.split()[0].lower() in _MEASURES
        is_of = "" if subject in ("", "there") else f" of {subject}"
        is_many = kind.split()[0].lower().endswith("s")
        many = f"{kind}{is_of}" if is_many and not measured else ""
        noun = subject if is_of else kind
        if is_of and not measured and not is_many and not match["wh"].lower().startswith(("how", "at what")):
            noun = f"the {kind}{is_of}"
        if rest != match["rest"] and not measured:
            noun = f"{kind} {rest}".strip()
    elif match := _PLAIN.match(text):
        noun = _VERB.sub("", _ENDS.sub("", match["rest"]))
    elif match := _SELECTED.match(text):
        noun = f"the {match['kind']} that {match['rest']}"
    elif match := _SUBJECT.match(text):
        noun, many = match["noun"], match["many"] or ""
    elif match := _OPENED.match(text):
        noun = _VERB.sub("", match["rest"])
        held = _HOLDS.match(match["rest"])
        thing = held["object"] if held and held["subject"] == noun else ""
    else:
        noun = many = _ENDS.sub("", re.sub(r"^(?:what|which|how many|how much|who) ", "", text, flags=re.I))
    noun = _PREPOSITION.sub("", noun.strip(" ,;:")) or text
    of_name = _OF_NAME.search(noun)
    spans = names_of(text)
    named = ""
    if spans:
        start, end = spans[-1]
        article = re.search(r"\b(?:the|an?) (?:\w+ )?$", text[:start], re.I)
        named = text[article.start() if article else start : end]
    place = "on" if re.search(r"\bon (?:the )?[A-Z]\w*$|\bon (?:the )?[A-Z]\w* ", text) else "in"
    name = of_name[1] if of_name else named if len(spans) == 1 and not names_of(f"x {noun}") else ""
    of = re.search(r"\bof (?!.* of )(.+)$", noun)
    return Topic(noun, _whole(text), deed, name, named, many, place, of[1] if of else "", thing)


def value_of(question: str, topic: Topic) -> str | None:
    """What a question asks for and somebody may change, as a clause: "where drawings are stored", "how long a session
    lasts". None where the thing itself may be meant as well, and for other questions."""
    match = _VALUE_WANTED.match(_LEAD.sub("", question).rstrip(" ?.!…"))
    if match is None:
        return None
    wh, auxiliary, rest = match["wh"].lower(), match["aux"].lower(), match["rest"]
    state = _STATE.match(rest) if auxiliary in ("is", "are", "was", "were") else None
    subject = (state["subject"] or "") if state else topic.noun
    if auxiliary.startswith("do") and rest == subject:
        subject = rest.rpartition(" ")[0]
    if not f"{rest} ".startswith(f"{subject} ".lstrip()) or (not subject and state is None):
        return None
    is_many = not subject or re.search(r"[^s]s$", subject) is not None
    if not is_many and (wh == "when" or wh.startswith("how much") or (wh == "where" and rest == subject)):
        return None  # "when does the train leave": one changes trains
    predicate = rest[len(subject) :].strip()
    if auxiliary == "does":
        verb, _, behind = predicate.partition(" ")
        predicate = f"{_of_third_person(verb)} {behind}".strip()
    being = "" if auxiliary.startswith("do") else auxiliary
    return " ".join(filter(None, (match["wh"][:1].lower() + match["wh"][1:], subject, being, predicate)))


def _of_third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + ("es" if re.search(r"(?:[sxo]|[cs]h)$", verb) else "s")


def clause_of(question: str, word: str) -> str:
    """The question `word` (why, how long) about what an earlier question says."""
    text = _LEAD.sub("", question).rstrip(" ?.!…")
    word, negated = ("why", True) if word == "why not" else (word, False)
    word = "why" if word == "how come" else word
    match = re.search(rf"\b(?:{_AUX})\b", text, re.I)
    if match is None:
        return f"{word[:1].upper()}{word[1:]} {text}?"
    left_out = [item for item in re.findall(r"\w+(?:[-'’]\w+)*", text[: match.start()]) if item.lower() not in ENGLISH]
    left_out = [item for item in left_out if item.lower() not in _MEASURES]
    clause = text[match.start() :]
    if negated:
        clause = re.sub(rf"^(\w+(?: {_SOMEBODY}\b)?)", r"\1 not", clause, flags=re.I)
    clause = clause[:1].lower() + clause[1:]
    behind = f" ({' '.join(left_out)})" if left_out else ""
    return f"{word[:1].upper()}{word[1:]} {clause}{behind}?"


def _whole(text: str) -> str:
    """The question without the words that only ask."""
    return _FORM.sub("", text) or text
