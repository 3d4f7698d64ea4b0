"""What a French, German or Spanish question leaves open: its pronouns, and questions without a verb.

Nothing is put in the place of a pronoun, whose gender and case would have to agree: the topic stands behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from webrag_core.language.stop_words import stop_words


@dataclass(frozen=True, slots=True)
class _Language:
    """The words of a language, as patterns: of questions (`asks`), without a verb (`lead`, `prepositions`), and
    pronouns. `reasons` are bare question words."""

    lead: str
    asks: str
    prepositions: str
    pronouns: tuple[str, ...]
    reasons: str
    articles: str
    about: str


LANGUAGES = {
    "fr": _Language(
        lead=r"(?:et|mais|ou|alors|puis)\b",
        asks=r"(?:qu['’]est-ce (?:que? |qu['’])|qui|que|qu['’]|quoi|quand|où|comment|combien|pourquoi|quels?|quelles?"
        r"|lesquel\w+|est-ce|faut-il|peut-on"
        r"|\w+-(?:t-)?(?:il|elle|ils|elles|on|je|vous|nous|ce)\b)",
        prepositions=r"(?:pour|en|à|au|aux|dans|avec|sans|de|du|des|d['’]|sur|sous|chez|par|hors|après|avant|depuis|s['’]il"
        r"|si)(?:\b|(?<=['’]))",
        pronouns=(
            r"(?<!faut)(?<!y-a)(?<!s'agit)-(?:t-)?(?:il|elle|ils|elles)\b(?! (?:possible|nécessaire|interdit"
            r"|obligatoire|permis|autorisé|vrai|normal|important|utile)\b)",
            r"\b(?:ça|cela|celui-ci|celle-ci|ceux-ci|celles-ci)\b",
            r"\b(?:peut|peux|puis|faut|dois|doit|veut|va|pas|pour|de|à|sans|comment|où|on|je|il|elle|ils|elles|vous|nous)"
            r" (?:l['’]|(?:le|la|les|lui|leur|en|y) )(?=(?:faire|[a-zà-ÿ]+(?<!ai)(?:er|ir|re|oir))\b)",
            r"\b(?:qui|on|je|tu|vous|nous|quand|où) (?:le|la|les|l['’]|lui|leur) ?(?=[a-zà-ÿ]+e[zs]?\b)",
            r"^(?:est-ce qu['’]|combien de temps |quand |où |comment )(?:il|elle)s?\b(?! (?:faut|y a|est possible))",
        ),
        reasons=r"(?:pourquoi(?: pas)?|comment|quand|où|combien(?: de temps)?|depuis quand|par qui|jusqu['’]à quand)",
        articles=r"(?:le|la|les|l['’]|un|une|des|mon|ma|mes|votre|vos)",
        about=r"qu['’]en est-il (?:de|du|des|pour)\s+",
    ),
    "de": _Language(
        lead=r"(?:und|aber|oder|dann|also)\b",
        asks=r"(?:wer|wen|wem|was|wann|wo|wohin|woher|wie|warum|wieso|weshalb|welche\w*|wozu|womit|wofür|kann|können|darf"
        r"|muss|müssen|ist|sind|hat|haben|gibt|soll|wird|werden|geht)\b",
        prepositions=r"(?:für|in|im|am|an|auf|mit|ohne|von|vom|bei|beim|nach|vor|seit|unter|aus|zu|zum|zur|ab|bis|wenn)\b",
        pronouns=(
            r"\b(?:er|sie(?! (?:sich|können|müssen|haben|sind|wollen|möchten))|ihn|ihm|ihnen|dieser|diese|dieses"
            r"|davon|dafür|damit|dazu|daran|darauf)\b",
            r"\bdas\b(?! (?-i:(?:\w+e )?[A-ZÄÖÜ]))",
            r"(?<!gibt )\bes\b(?! (?:gibt|möglich|nötig|erlaubt|verboten|wichtig|besser|ist))",
        ),
        reasons=r"(?:warum(?: nicht)?|wieso|weshalb|wie|wann|wo|wer|seit wann|wie lange|wie viel|bis wann|von wem)",
        articles=r"(?:der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein\w*)",
        about=r"(?:was ist mit|wie ist es mit|wie sieht es mit)\s+",
    ),
    "es": _Language(
        lead=r"(?:y|e|pero|o|entonces)\b",
        asks=r"¿?(?:qué|quién|quiénes|cuándo|dónde|cómo|cuánt[oa]\w*|cuál|cuáles|por qué|puedo|puede|hay|es|son|se)\b",
        prepositions=r"(?:para|en|con|sin|de|del|a|al|por|desde|hasta|sobre|bajo|si)\b",
        pronouns=(
            r"\b(?:esto|eso|ello|ellos|ellas|él|ella)\b",
            r"\b\w+(?:ar|er|ir)(?:lo|la|los|las)\b",
        ),
        reasons=r"¿?(?:por qué(?: no)?|cómo|cuándo|dónde|quién|cuánto|desde cuándo|hasta cuándo)",
        articles=r"(?:el|la|los|las|un|una|unos|unas|mi|mis|su|sus)",
        about=r"¿?qué (?:tal|pasa con)\s+",
    ),
}
_WORD = re.compile(r"\w+(?:[-.:/_]+\w+)*")
_MOST_OF_FRAGMENT = 9  # words
_MOST_BEFORE = 3  # words before a pronoun, function words not counted, that are not what it means


def completed(earlier: str, typed: str, language: str) -> str | None:
    """`typed` completed by `earlier`; None for a question that is complete. White space is collapsed in both."""
    words = LANGUAGES[language]
    mark = " ?" if language == "fr" else "?"
    continues = re.match(rf"¿?{words.lead}[,;]?\s+", typed, re.I)
    bare = (typed[continues.end() :] if continues else typed).strip(" ¿?.!…")
    body = earlier.strip(" ¿?.!…")
    if not bare:
        return None
    if re.fullmatch(words.reasons, bare, re.I):
        return f"{bare[:1].upper()}{bare[1:]} ({body}){mark}"
    about = re.match(words.about, bare, re.I)
    thing = bare[about.end() :] if about else bare
    begins = re.match(words.prepositions, thing, re.I)
    is_short = len(bare.split()) <= _MOST_OF_FRAGMENT
    if is_short and (about or ((begins or continues) and not re.search(rf"\b{words.asks}", bare, re.I))):
        return f"{_put(body, thing, words)}{mark}"
    if any(not _is_explained(bare[: match.start()], match[0], words, language) for match in _pronouns(bare, words)):
        return f"{bare} ({_topic(body, words)}){mark}"
    if re.match(words.asks, bare, re.I) and _is_general(bare, words, language):
        return f"{bare} ({_topic(body, words)}){mark}"
    return None


def _put(body: str, thing: str, words: _Language) -> str:
    """The thing in the place of the last phrase with its preposition, else behind the question."""
    begins = re.match(rf"({words.prepositions})\s*({words.articles})?", thing, re.I)
    behind = thing[begins.end(1) :].strip() if begins else ""
    alike = re.search(rf"(?<=\s)\S+\s+{re.escape(behind)}(?!\w)", body, re.I) if behind else None
    if alike is not None:
        return f"{body[: alike.start()]}{thing}{body[alike.end() :]}"
    if begins is not None and not re.search(r"\d", thing):
        same = list(re.finditer(rf"(?:^|(?<=\s)){begins[1]}\s*{begins[2] or ''}", body, re.I))
        if same and len(thing.split()) <= len(body[same[-1].start() :].split()) + 1 and same[-1].start():
            return f"{body[: same[-1].start()]}{thing}"
    return f"{body}, {thing}"


def _topic(body: str, words: _Language) -> str:
    """The question without the words that only ask, and without a verb before its first noun."""
    topic = re.sub(rf"^(?:{words.asks})\S*\s+", "", body, count=1, flags=re.I) or body
    return re.sub(rf"^[^\W\d_A-ZÄÖÜ][\w'’]*\s+(?={words.articles}[\s\w])", "", topic)


def _is_general(bare: str, words: _Language, language: str) -> bool:
    """Whether a question has at most one word beside its question word that is no function word, and no article or
    name: nothing that says what it is about."""
    rest = re.sub(rf"^{words.asks}", "", bare, count=1, flags=re.I)
    specific = [word for word in _WORD.findall(rest) if word.lower() not in stop_words(language)]
    has_thing = re.search(rf"(?:^|\s){words.articles}(?:\s|(?<=['’]))", rest, re.I) is not None
    return len(specific) <= 1 and not has_thing and all(word.islower() for word in specific)


def _pronouns(bare: str, words: _Language) -> Iterator[re.Match[str]]:
    for pattern in words.pronouns:
        yield from re.finditer(pattern, bare, re.I)


def _is_explained(before: str, pronoun: str, words: _Language, language: str) -> bool:
    """Whether what stands before the pronoun names something that it may mean: of a subject behind its verb a noun
    with an article ("la fourrière garde-t-elle"), of any other many nouns."""
    if pronoun.startswith("-"):
        return re.search(rf"(?:^|\s){words.articles}\s*\w", before, re.I) is not None
    return len([word for word in _WORD.findall(before) if word.lower() not in stop_words(language)]) > _MOST_BEFORE
