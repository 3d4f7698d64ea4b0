"""Whether a few lines read as running text: words, function words, sentence marks, lines filled up to a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

# the commonest function words; those of programming languages that are also words (if, for, and) count little alone
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    a about after all also an and any are as at be been before but by can could do does each for from had has have he
    how i if in into is it its may more most must no not of on one only or other our should so some such than that the
    their them then there these they this those to under up use used we were what when where which while who will with
    would you your
    aber als am auch auf aus bei das dass dem den der des die diese dieser durch ein eine einem einen einer es für hat
    ich im ist kann mit nach nicht noch nur oder sich sie sind über um und von vor war werden wie wird wir zu zum zur
    au aux avec ce ces cette dans de du elle en est et il ils la le les leur mais ne nous ou par pas plus pour qu que
    qui sa sans se ses si son sont sur un une vous être
    con como cuando del el entre esta este ha hay las lo los más muy o para pero por puede se ser sin sobre su sus
    también tiene una y ya
    ao até com da das dos e ela ele em essa esse foi isso mais mas na não nas no nos os ou pela pelo pode quando sem
    seu sua são também tem uma
    al alla anche che chi ci come da dal dalla degli dei della delle di è gli i il le loro ma nel nella non ogni per
    più può quando questa questo si sono su tra un uno
    aan als bij dan dat de deze die dit door een en er geen het hij hun ik is kan maar met naar niet nog of om ook op
    te tot uit van voor was wat wordt zijn
    att av den det där efter ej eller en ett från för har hon i inte kan man med mot när och om på som så till var vid
    är af at blev de denne dette din du en er et fra han hun hvis ikke jeg kun må ned og over skal sig til ved vil
    være å eller hva ikke men
    ale ani bez był była być co czy dla do gdy i jak jako jest jego już lub ma może na nie o od oraz po pod przez przy
    są się ta tak te tego ten to tym w we z za ze że
    aby ale by být co či do i jak jako je jeho jejich již která které který která ke k na nebo není o od po podle pro
    při s se si tak tato tento u v ve však z za že
    ama bir bu çok da daha de değil en gibi her için ile ise kadar ki mi mu ne olan olarak sonra ve veya
    a az be de egy és ez ha hogy is kell lehet meg nem vagy van
    ei että hän ja joka jos kuin kun myös mutta niin ne ole oli on ovat se sekä tai tämä vain voi
    în la nu pe prin sau să sunt şi și un o cu care din este
    và của là có trong cho với một các không được khi này để
    а без более бы в во все для до его если есть же за и из или их к как когда может на не но о об от по при с со так
    также то только у чтобы что это
    але або в від для до з за і й його на не по про та у це що як
    και να το της του η ο τα με για από στο στη είναι που δεν σε θα
        """,
    )
)
_MAX_READ = 2_000  # characters: more of a paragraph says nothing new
_MAX_WORD = 40
_WORD = re.compile(r"[\"'“‘«„(\[*_`]*([^\W\d_]+(?:['’./-][^\W\d_]+)*)['\"”’»)\]*_`]*[.,;:!?…]*['\"”’»)\]]*")
_CODE_MARKS = re.compile(r"[{}=|\\$&^~;]|(?<!\w)@|\(\)|::|->|//|--\w|(?<=\s)#(?=\s)")
_SENTENCE_END = re.compile(r"[.!?:…]['\"”’»)\]]*$")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7a3]")
_UNSPACED_SENTENCE = re.compile("[。、，．！？؟।၊။។\u0e2f]")
_LATIN = re.compile("[a-zA-Z]")
_LETTER = re.compile(r"[^\W\d_]")
_MIN_TOKENS = 4
_MIN_WORDS = 0.66  # of the tokens
_MIN_FUNCTION_WORDS = 0.18  # of the words
_MIN_FOREIGN = 0.6  # of the letters: code is written in Latin ones
_FILL_SLACK = 6  # columns: editors fill lines less well than programs
_MIN_FILLED = 0.6  # of the line ends


@lru_cache(maxsize=4096)
def reads_as_text(text: str) -> bool:
    """Whether `text` consists of words of a language for the most part, with the function words of sentences."""
    text = text[:_MAX_READ]
    tokens = text.split()
    letters = len(_LETTER.findall(text))
    if letters and len(_LATIN.findall(text)) < (1 - _MIN_FOREIGN) * letters:
        return _reads_as_other_script(text, tokens, letters)
    words = _words(text, tokens) if len(tokens) >= _MIN_TOKENS else []
    return 0 < _MIN_FUNCTION_WORDS * len(words) <= sum(word in _FUNCTION_WORDS for word in words)


def consists_of_words(text: str) -> bool:
    """Whether most of a `text` of a few words or more are such, without regard to what they mean."""
    tokens = text[:_MAX_READ].split()
    return len(tokens) >= _MIN_TOKENS and len(_words(text[:_MAX_READ], tokens)) > 0


def _words(text: str, tokens: list[str]) -> list[str]:
    """The words among the tokens of a text, in lower case; none where too few are, or among signs of code."""
    if 3 * len(_CODE_MARKS.findall(text)) > len(tokens):
        return []
    words = [match[1].lower() for token in tokens if len(token) <= _MAX_WORD and (match := _WORD.fullmatch(token))]
    return words if len(words) >= _MIN_WORDS * len(tokens) else []


def _reads_as_other_script(text: str, tokens: list[str], letters: int) -> bool:
    if len(_CODE_MARKS.findall(text)) * 12 > letters:
        return False
    if 2 * len(_UNSPACED.findall(text)) > letters:
        return letters >= (12 if _UNSPACED_SENTENCE.search(text) else 30)
    return len(tokens) >= 4


def ends_sentence(text: str) -> bool:
    """Whether `text` ends as a sentence, or as what announces what follows."""
    return _SENTENCE_END.search(text[-8:]) is not None or _UNSPACED_SENTENCE.match(text[-1:]) is not None


def is_sentence(text: str) -> bool:
    """Whether one line reads as a sentence of its own: text that begins like one and ends like one."""
    first = text.lstrip("\"'“‘«„(*_`<")[:1]
    return (first.isupper() or not first.islower()) and ends_sentence(text) and reads_as_text(text)


def marks_of_code(text: str) -> int:
    """Signs in `text` that code and configuration have, and running text hardly."""
    return len(_CODE_MARKS.findall(text[:_MAX_READ]))


def is_filled(lines: Sequence[str], edge: int) -> bool:
    """Whether most lines end where their next word would pass the right edge, a column that counts their blanks too.

    Running text that somebody wrapped does; code, verse and lists do not. Scripts without blanks end anywhere near it.
    """
    if len(lines) < 2:
        return False
    filled = sum(
        len(line) + 1 + len(_first_word(following)) > edge - _FILL_SLACK for line, following in pairwise(lines)
    )
    return filled >= _MIN_FILLED * (len(lines) - 1)


def _first_word(line: str) -> str:
    word = line.split(None, 1)[0] if line.strip() else ""
    return word[:1] if _UNSPACED.match(word) else word
