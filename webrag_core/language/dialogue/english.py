"""What an English question leaves open: pronouns, ellipsis, a bare question word, nothing but general words."""

from __future__ import annotations

import re

from webrag_core.language.dialogue.fragments import put_in
from webrag_core.language.dialogue.topics import ALTERING, AUXILIARIES, Topic, clause_of, names_of, topic_of, value_of
from webrag_core.language.stop_words import ENGLISH
from webrag_core.late_pattern import late_pattern

_LEAD = late_pattern(
    r"^(?:(?:and|but|so|or|also|then|now|well|ok|okay|thanks|thank you|great|yes|no|hmm?)\b[,;:]?\s+)+", re.I
)
_CONTINUES = late_pattern(r"^(?:and|but|or|so|then|also)\b", re.I)
_ABOUT = late_pattern(r"^(?:what|how) about\s+", re.I)
_CONDITION = late_pattern(r"^what (?=(?:if|when)\b)", re.I)
_BARE = late_pattern(
    r"^(?P<wh>why not|how come|why|how|where|when|who|what for|since when|until when|from when|by when|from where"
    r"|by whom|for whom|for how long|how (?:long|much|many|often|far|soon|fast|old|big|large)"
    r"|(?:since|from|in|until|by|for|with|on|at) (?:which|what) \w+)"
    r"(?: (?:is|was|are|were|does|did) (?:that|this|it|so))?(?: so)?$",
    re.I,
)
_REASON = late_pattern(r"^(?:why|how come)\b", re.I)
_OPEN = late_pattern(
    r"^(?:which|what|who|whom|whose|when|where|how (?!(?:do|does|did|can|could|should|to)\b)\w+)\b", re.I
)
_WH = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUX = "|".join(AUXILIARIES)
_MORE = late_pattern(
    r"(?:(?:tell|show|give) me more|more|go on|continue|explain(?: more)?|in detail|(?:more |further )?(?:details?"
    r"|information)"
    r"|(?:(?:can|could) you )?(?:give|show)(?: me)?(?: an| some)? examples?|(?:an|any|some)? ?examples?"
    r"|what['’]s included)(?: please)?",
    re.I,
)
_OTHER_DEED = late_pattern(r"^(?P<verb>[a-z]+(?: (?:up|off|out|on))?) (?:it|them|one|that|this|those)\b(?P<rest>.*)$")
_ALTERED = late_pattern(
    rf"\b{ALTERING}\w* (?P<object>it|that|this)(?=$|[,;]| (?:to|for|in|on|with|at|by|from|if|when|so|and|or|again)\b)"
    rf"|\b(?:it|that|this) (?:be |get )?{ALTERING}\w*d\b",
    re.I,
)
_HAS_QUESTION = late_pattern(rf"\b{_WH}\b", re.I)
_INVERTED = late_pattern(rf"^(?:{_AUX}|please|tell|explain|describe|show|list|compare|find|give)\b", re.I)
_PREPOSITION = late_pattern(
    r"^(?:for|in|on|with|without|of|from|at|by|to|under|over|after|before|during|as|if|when|unless|until|since|via"
    r"|through|against|between|outside|inside|within|per|above|below|near|than|instead of|because of)\b",
    re.I,
)
_DETERMINED = late_pattern(r"^(?:the|an?|any|some|other|another|more|my|your|our) \S+$", re.I)
_MOST_OF_FRAGMENT = 9  # words

_EMPTY_IT = late_pattern(
    r"\bit(?=(?: (?:is|was|be|would be))?(?: (?:\w+ly|so|always|even|still))? (?:possible|necessary|better|best"
    r"|ok|okay|recommended|true|safe|legal|illegal|allowed|forbidden|worth|normal|important|required|mandatory|easy|hard"
    r"|difficult|fine|good|bad|wise|enough|advisable|compulsory|permitted|likely|useful)\b)"
    r"|\bit (?:takes?|costs?|matters?|rains?|snows?) (?:to|if|when|that)\b|\b(?:take|cost|mean) (?=to\b)"
    r"|\b(?:does|did|will|would|do) it (?:take|cost|mean|matter|rain|snow)\b(?= (?:to|for \w+ to|if|when|that|in)\b)"
    r"|\bit(?=(?:['’]s| is| was) (?:\w+ )?(?:to|that) )|\bis it that\b|\bwhat time is it\b",
    re.I,
)
_PRONOUN = late_pattern(
    r"\b(?P<whose>its|their|his|her(?= \w))\b"
    r"|\b(?P<person>he|she|him|her)\b"
    r"|\b(?P<many>they|them|these|those)\b(?! (?:who|that|which)\b)"
    r"|(?:(?<=\bi )|(?<=\bwe )|(?<=\byou )|(?<=\bto )|(?<=\bone )|(?<=\bnot ))"
    r"(?P<deed>(?:do|doing) (?:that|this|so|it))\b"
    r"|\b(?P<event>that|this)\b"
    r"|\b(?P<thing>it)\b"
    r"|\b(?P<place>there)\b"
    r"|\b(?P<kind>ones?)\b(?=$|[,;]| (?:for|in|on|with|from|at|when|if|is|does|are|do|should|has|have|can|that|use"
    r"|holds?|did)\b)",
    re.I,
)
_BOUNDARY = late_pattern(
    r"[,;:]|\b(?:when|if|before|after|because|while|once|until|since|so that|although|that|which|who|and|or|but)\b",
    re.I,
)
_DEICTIC = frozenset(
    re.findall(
        r"\w+",
        """page site website document manual book article year month week day morning evening time version edition
        country corpus database documentation text chapter section case way""",
    )
)
_BEGIN_CLAUSE = frozenset(
    re.findall(r"\w+", "i you we he she it they there the a an my your our his her its their people")
)
_ANY_NOUN = frozenset(re.findall(r"\w+", "person place thing process procedure step option command file setting value"))
_CHOICE = late_pattern(
    r"\b(?:the )?(first|second|former|latter|last)(?: (?:one|of (?:them|these|those|the two)))?\b", re.I
)
_PAIR = late_pattern(r"\b(?:between|compare|either) (.+?) (?:and|or|with|to) (.+)$|^(.+?) (?:vs\.?|versus) (.+)$", re.I)
_OPEN_END = late_pattern(r"\b(?:then|else|instead|afterwards|otherwise|both|the same|neither|the other)$", re.I)
_DEFINITION = late_pattern(r"^(?:what|who)(?:['’]s| is| are| was| were) (?:an? )?\w+$", re.I)
_GENERAL = frozenset(
    re.findall(
        r"\w+",
        """need needs needed cost costs price prices fee fees pay free cheap cheaper expensive documents document
        requirements requirement required conditions steps apply applies work works default defaults limit limits
        maximum minimum deadline long much many often early late options option example examples difference differences
        advantages disadvantages alternatives alternative use used using get make take takes happen happens
        change changed mean means exist exists possible allowed available know find start stop end valid last
        discount discounts included exceptions exception risks rules reason reasons result results purpose
        people someone anybody anyone""",
    )
)
_FORM = late_pattern(
    rf"^(?:{_WH}\b ?)?(?:(?:long|much|many|often|far|old|big|soon) )?(?:{_AUX})\b ?(?:(?:i|you|we|one|he|she|it|they"
    r"|people|someone|somebody|anybody)\b ?(?:(?:have|need|want|get) to )?(?:not )?\w*)?",
    re.I,
)
_FIRST_VERB = late_pattern(rf"^{_WH} \w+\b", re.I)
_KIND_IS_NAMED = late_pattern(
    r"\b(?:an?|the|which|what|this|that|\w+er|wrong|right|other|another|new|old|second|first) $", re.I
)
_WORD = late_pattern(r"\w+(?:['’.:/_-]+\w+)*")
_GOES = late_pattern(r"\b(?:get|go|come|travel|drive|walk|move) $", re.I)
_SUBJECT_NEXT = late_pattern(rf"(?:^|\b(?:{_AUX}|when|if|before|after|until|because) )$", re.I)
_BEHIND = late_pattern(r"\b(?:for|of|to|before|after|by|with|without|from|about|on|in) $", re.I)
_LONGEST_OWNER = 4  # words before "’s"
_LONG_TOPIC = 9  # words, from which on a topic stands behind the question


def completed(earlier: str, typed: str) -> str | None:
    """`typed` completed by `earlier`; None for a question that is complete. White space is collapsed in both."""
    rest = _LEAD.sub("", typed)
    bare = rest.rstrip(" ?.!…")
    if not bare:
        return None
    topic = topic_of(earlier)
    if match := _BARE.match(bare):
        if _REASON.match(bare) and _OPEN.match(earlier):  # of the answer, which no clause of the question states
            return f"{bare} ({topic.whole})?"
        return clause_of(earlier, match["wh"].lower())
    if _MORE.fullmatch(bare):
        return f"{bare} ({topic.noun})?"
    deed = _OTHER_DEED.match(_ABOUT.sub("", bare))
    if topic.deed and deed and deed["verb"] not in AUXILIARIES:
        to = "go about " if deed["verb"].endswith("ing") else ""  # "How do I go about closing an account?"
        return f"{earlier[: earlier.index(topic.deed)]}{to}{deed['verb']} {topic.noun}{deed['rest']}?"
    fragment = _fragment(typed, bare)
    if fragment is not None:
        return put_in(earlier, fragment, topic)
    if chosen := _chosen(bare, earlier):
        return f"{chosen}?"
    if (altered := _ALTERED.search(bare)) and (value := value_of(earlier, topic)):
        if altered["object"] is None:
            return f"{bare} ({value})?"
        return f"{bare[: altered.start('object')]}{value}{bare[altered.end('object') :]}?"
    if (resolved := _with_pronoun(bare, topic)) is not None:
        return f"{resolved}?"
    if _OPEN_END.search(bare) or _is_general(bare):
        return f"{bare} ({topic.deed or topic.noun})?"
    return None


def _fragment(typed: str, bare: str) -> str | None:
    """What stands in a question without a verb; None for a whole one."""
    if about := _ABOUT.match(bare):
        return bare[about.end() :]
    if condition := _CONDITION.match(bare):
        return bare[condition.end() :]
    words = bare.split()
    begins = _PREPOSITION.match(bare)
    inverted = begins is not None and begins[0].lower() == "when" and len(words) > 1 and words[1].lower() in AUXILIARIES
    behind = bare[begins.end() :] if begins else bare
    if len(words) > _MOST_OF_FRAGMENT or inverted or _HAS_QUESTION.search(behind) or _INVERTED.match(bare):
        return None
    if begins or _DETERMINED.match(bare) or (_CONTINUES.match(typed) and not _PRONOUN.match(bare)):
        return bare
    is_name = len(words) == 1 or all(word[:1].isupper() or word[:1].isdigit() for word in words)
    return bare if is_name and typed.endswith("?") else None


def _chosen(bare: str, earlier: str) -> str | None:
    """The question with the first or second of two things that were compared, where it names one by its place."""
    match, pair = _CHOICE.search(bare), _PAIR.search(earlier.rstrip(" ?.!"))
    if match is None or pair is None:
        return None
    first, second = [item for item in pair.groups() if item]
    named = first if match[1].lower() in ("first", "former") else second
    return f"{bare[: match.start()]}{named}{bare[match.end() :]}"


def _with_pronoun(bare: str, topic: Topic) -> str | None:
    """The question with its topic in the place of a pronoun that nothing in it explains, or behind it where there are
    several; None without any."""
    empty = [match.span() for match in _EMPTY_IT.finditer(bare)]
    completions = []
    for match in _PRONOUN.finditer(bare):
        if any(start <= match.start() < max(end, start + 1) for start, end in empty):
            continue
        completion = _completion(bare, match, topic)
        if completion is not None:
            completions.append(completion)
    return f"{bare} ({topic.whole})" if len(completions) > 1 else next(iter(completions), None)


def _completion(bare: str, match: re.Match[str], topic: Topic) -> str | None:
    """The question without this pronoun; None where it means something in the question itself."""
    before, after = bare[: match.start()].strip(), bare[match.end() :].strip()
    word, kind = match[0].lower(), str(match.lastgroup)
    if word == "they" and names_of(f"{before} they {after}"):
        return None  # those of the place that is named: "what do they speak in Malta"
    if _explained(before, kind) or (kind == "place" and not _is_place(before, after)):
        return None
    noun = _noun_behind(word, before, after) if word in ("this", "that", "these", "those") else None
    if noun is None:
        return _replaced(bare, match, kind, topic)
    if noun == "" or noun in _DEICTIC:
        return None
    end = match.end() + len(bare[match.end() :]) - len(bare[match.end() :].lstrip()) + len(noun)
    return _instead(bare, match.start(), end, noun, topic)


def _explained(before: str, kind: str) -> bool:
    """Whether a name or noun that stands before the pronoun, in another clause, may be what it means. An object never
    means the subject of its own clause; what belongs to somebody may."""
    if kind == "place":
        return False
    nouns = _nouns(before)
    if kind == "whose":
        return bool(nouns)
    cuts = [match.start() for match in _BOUNDARY.finditer(before)]
    return any(_nouns(before[:cut]) for cut in cuts if cut > 0)


def _nouns(text: str) -> list[str]:
    """Words before a pronoun that may be nouns: not those of the question's form, nor its first verb."""
    opened = _FORM.sub("", text)
    opened = _FIRST_VERB.sub("", opened) if opened == text else opened
    return [
        word
        for word in _WORD.findall(opened)
        if word.lower() not in ENGLISH and not word.lower().endswith(("ing", "ly")) and word.lower() not in _GENERAL
    ]


def _is_place(before: str, after: str) -> bool:
    """Whether "there" is a place, and not the subject of "there is"."""
    last = before.split()[-1].lower() if before else ""
    is_subject = last in AUXILIARIES or re.match(r"(?:is|are|was|were|has|have|will|must|may|can)\b", after, re.I)
    return bool(before) and not is_subject


def _noun_behind(word: str, before: str, after: str) -> str | None:
    """The noun that "this" or "those" (`word`, lower case) belongs to; None where it stands alone, "" where "that"
    begins a clause."""
    following = _WORD.match(after)
    preceding = before.split()[-1].lower() if before else ""
    begins_clause = following is not None and following[0].lower() in _BEGIN_CLAUSE
    if word == "that" and (begins_clause or (preceding and preceding not in ENGLISH and _nouns(before))):
        return ""
    if following is None or following[0].lower() in ENGLISH:
        return None
    if word in ("that", "this") and preceding in ("does", "did", "do", "will", "would", "can", "could", "should"):
        return None  # "does that work"
    return following[0].lower()


def _instead(bare: str, start: int, end: int, noun: str, topic: Topic) -> str:
    """The topic in the place of "this licence" where it is about a licence, else behind the question."""
    heads = {word.lower() for word in _WORD.findall(topic.noun)}
    is_meant = noun in _ANY_NOUN or noun in heads or noun.removesuffix("s") in heads
    if is_meant and len(topic.noun.split()) < _LONG_TOPIC:
        return f"{bare[:start]}{topic.noun}{bare[end:]}"
    return f"{bare} ({topic.whole})"


def _replaced(bare: str, match: re.Match[str], kind: str, topic: Topic) -> str:
    words = {
        "whose": topic.name or topic.noun,
        "person": topic.named or topic.noun,
        "many": topic.many or topic.noun,
        "deed": topic.deed or topic.noun,
        "event": topic.deed or topic.noun,
        "thing": topic.noun,
        "place": f"{topic.place} {topic.name or topic.owner or topic.noun}",
        "kind": topic.without_article,
    }[kind]
    before, after = bare[: match.start()], bare[match.end() :]
    if kind == "place" and _GOES.search(before):
        words = f"to {words.partition(' ')[2]}"
    if kind == "thing" and topic.deed and re.match(r"\s*(?:take|cost)\b", after):
        words = topic.deed
    if kind == "thing" and topic.object and not _SUBJECT_NEXT.search(before):
        words = f"{topic.object} of {topic.noun}"  # "how do I enable it"
    if len(words.split()) >= _LONG_TOPIC or (kind == "kind" and re.search(r"\bwhich $", before, re.I)):
        return f"{bare} ({topic.whole})"
    if kind == "whose" and len(words.split()) <= _LONGEST_OWNER:
        return f"{before}{words}{'’' if words.endswith('s') else '’s'}{after}"
    if kind == "whose":
        return f"{before}the{after} of {words}"
    if kind == "kind" and match[0].lower() == "one" and not _KIND_IS_NAMED.search(before) and words[:1].islower():
        words = f"a {words}"
    if kind == "event" and re.match(r"\s*(?:$|mean)", after) and not _BEHIND.search(before):
        words = topic.noun  # an object: "how do I undo that"
    return f"{before}{words}{after}"


def _is_general(bare: str) -> bool:
    """Whether a question has at most one word that says what it is about, and that no name."""
    if (not _HAS_QUESTION.match(bare) and not _INVERTED.match(bare)) or _DEFINITION.match(bare):
        return False
    words = [word for word in re.findall(r"[\w./:-]+", bare) if word.lower() not in ENGLISH]
    specific = [word for word in words if word.lower() not in _GENERAL]
    if len(specific) != 1:
        return not specific
    is_new = re.search(rf"\ban? {re.escape(specific[0])}\b", bare, re.I) is not None  # "a passport" names itself
    return specific[0].isalpha() and specific[0].islower() and not is_new
