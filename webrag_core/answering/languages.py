"""The language of a question and of its evidence, as far as their most common words show it beyond doubt."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from webrag_core.answering.models import SentenceCitation
from webrag_core.answering.unit_text import unit_text

_COMMON = {
    "English": """
        a an and are as at be by can do does for from how i if in is it many me more my not of on or should so that
        the there this to was we what when where which who why will with would you your
    """,
    "German": """
        als am an auf aus bei bin bis das dass dem den der des die dieser durch ein eine einem einen einer es für gibt
        hat ich ihr im in ist kann können man mehr mein mich mir mit muss nach nicht oder ohne sich sie sind so um und
        uns unter viel viele vom von wann warum was welche welchem welchen welcher welches wenn wer werden wie wieso
        wir wird wo wofür worin zu zum zur zwischen über
    """,
    "French": """
        au aux avec ce ces cette combien comment d dans de des du elle en entre est et faire faut il ils j je l la le
        les leur ma mes mon ne nous on ou où par pas peut plus pour pourquoi qu quand que quel quelle quelles quels
        qui quoi sa sans se ses son sont sur un une vous à ça être
    """,
    "Spanish": """
        a al como con cual cuales cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta cuántas cuánto
        cuántos cómo de del donde dónde e el en entre es esta este está están hacer hay la las lo los me mi más no o
        para pero por porque puede puedo que quien quién qué se ser si sin sobre son su sus tiene un una y yo
    """,
    "Italian": """
        a ad al alla alle anche che chi ci come con cosa così da dal dalla dei del della delle di dove due e ed fare
        fra gli ho i il in io l la le lo mi nel nella non o per perché più posso può qual quale quali quando quanta
        quante quanti quanto se senza si sono su sul sulla tra un una uno è
    """,
    "Portuguese": """
        a ao aos as com como da das de dela dele do dos e em entre essa esse esta este está eu existe fazer foi há
        isso mais me meu minha na nas no nos não o onde os ou para pela pelo pode por porque posso quais qual quando
        quanta quantas quanto quantos que quem se sem ser seu sua são um uma à é
    """,
    "Dutch": """
        aan af als bij dat de deze die dit doe door dus een en er gebruik geen heb heeft het hoe hoeveel ik in is je
        kan kun maar me meer met mijn moet naar niet of om onder ons ook op over te tot tussen uit van veel voor waar
        waarom wanneer wat we welk welke werkt wie worden wordt zijn zonder
    """,
    "Russian": """
        без в во где для до если есть и из или их к как какая какие какое какой какую когда кто ли между мне можно на
        надо не нужно о об от по почему при с сколько со так то у чего чем что чтобы это этот я
    """,
}
_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_SPREAD = Counter(word for words in _WORDS.values() for word in words)  # languages that have the word
_SCRIPTS = {
    "Japanese": re.compile("[\u3040-\u30ff]"),
    "Korean": re.compile("[\uac00-\ud7af]"),
    "Chinese": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_LEAST = 1.5  # a word counts as the share of a language among those that have it
_LEAD = 1.7  # times the next language
_SCRIPT_SHARE = 0.2  # of the letters: names in Latin letters stand in every language


def language_of(text: str) -> str | None:
    """The language of a question or text, in English; None when it is not clear."""
    letters = len(_LETTER.findall(text))
    for language, script in _SCRIPTS.items():
        if letters and len(script.findall(text)) / letters >= _SCRIPT_SHARE:
            return language
    counts: defaultdict[str, float] = defaultdict(float)
    for word in set(_WORD.findall(_CODE.sub(" ", text).lower())):
        for language, words in _WORDS.items():
            if word in words:
                counts[language] += 1 / _SPREAD[word]
    ranked = sorted(((count, language) for language, count in counts.items()), reverse=True)
    (most, best), (next_most, _) = (*ranked, (0.0, ""), (0.0, ""))[:2]
    return best if most >= _LEAST and most >= _LEAD * next_most else None


def language_notes(question: str, citations: Sequence[SentenceCitation]) -> list[str]:
    """A note for evidence that is clearly in another language than the question."""
    own = language_of(question)
    theirs = language_of(" ".join(unit_text(_CODE.sub(" ", one.quote), "paragraph") for one in citations))
    if own is None or theirs is None or own == theirs:
        return []
    return [
        f"the question is in {own}, the pages are in {theirs}: evidence is found by its words, so ask in {theirs} to"
        " find more"
    ]
