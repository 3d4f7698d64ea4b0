"""Kinds of values that a question asks for, and whether a text holds one. Rules for English, French and German; in
another language, and where no rule fits, no kind is known and nothing is demanded."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from webrag_core.language.dialogue.topics import ALTERING
from webrag_core.late_pattern import late_pattern

Value = Literal[
    "number", "figure", "money", "date", "duration", "length", "weight", "temperature", "age", "frequency", "telephone"
]


def _any(words: str) -> str:
    """A group of whole words; a word may be a pattern."""
    return rf"(?:{'|'.join(words.split())})\b"


_COUNT = _any(
    "one(?!\\sof\\b) two three four five six seven eight nine ten eleven twelve"
    " (?:thir|four|fif|six|seven|eigh|nine)teen"
    " (?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\\w+)? hundreds? thousands? millions? half third quarter once"
    " twice dozen single both none no zero unlimited several few many most"
    " eine? einen eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend halb"
    " (?:drei|vier|fünf|sech|sieb|acht|neun)zehn (?:\\w+und)?(?:zwan|vier|fünf|sech|sieb|acht|neun)zig"
    " (?:\\w+und)?dreißig"
    " une? deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente cent mille aucune? plusieurs"
)
_AMOUNT = rf"(?:(?<!\d)\d[\d.,  ]{{0,30}}|\b{_COUNT})[- ]?"
_TIME = _any(
    "(?:milli|micro|nano)?seconds? sekunden? secs? minutes? minuten? mins? hours? stunden? days? tage?n? weeks? wochen?"
    " months? monate?n? years? jahre?n? decades? century centuries jahrhunderte? ms µs ns s h min std"
    " secondes? heures? jours? semaines? mois ans? années? siècles?"
)
_KIND_OF_DAY = "(?:(?:more|full|whole|working|business|calendar) )?"
_MONTH = (
    "(?:january?|februar|february|märz|april|mai|june|juni|july|juli|august|september|o[ck]tober|november|de[cz]ember"
    "|(?-i:Jan|Feb|Mar|March|Apr|May|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|De[cz])"  # they may, in march, my son Mar
    "|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)"
)
_DAY = _any(
    "mondays? montags? tuesdays? dienstags? wednesdays? mittwochs? thursdays? donnerstags? fridays? freitags?"
    " saturdays? samstags? sundays? sonntags? (?-i:Mon|Tue|Wed|Thu|Fri|Sat|Sun)s?"
    " (?:lun|mar|mercre|jeu|vendre|same)dis? dimanches?"
)
_CURRENCY = _any("usd eur gbp chf euros? dollars? pounds? cents? rupees? francs? franken yen")
_YEAR = r"\b(?:1[0-9]|20)\d\d\b"
_NO_YEAR = (  # before a figure: A.D. 301, since 1862; but in 2000 rows
    r"(?<!a\.d\. )(?<!(?-i:\bAD) )(?!\d+ (?:a\.d\.|b\.c\.|(?-i:BC|AD)\b))"
    r"(?!(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bby ))(?:1[5-9]|20)\d\d"
    r"(?![\w.,]*\d| ?(?:[ckm]?m|[kmg]b|sq|ha|kg|w|v|hz|px|mi|ft|feet)\b| [a-z]{2,}s\b))"
)
_NO_PRICE = "(?! (?:software|firmware|and open|space|memory|disk|speech|standing|hand|will|time)\\b)"  # behind `free`
_VALUES: dict[Value, tuple[str, ...]] = {
    "number": (r"\d+(?:[.,]\d+)*", rf"\b{_COUNT}"),
    "figure": (rf"{_NO_YEAR}(?<![\w.,-])(?<!version )\d+(?:[.,]\d+|(?:[   ,]\d{{3}})+)?(?![.,]?\d|-[^\W\d_])",),
    "money": (
        r"[€$£¥₹]\s?\d",
        r"\d[\d.,  ]{0,30}\s?[€$£¥₹%]",
        _AMOUNT + _CURRENCY,
        rf"(?<!-)(?<!feel )\bfree\b{_NO_PRICE}",
        r"\b" + _any("kostenlos gratis gratuite?s? gratuitement"),
        r"\bno (?:charge|fee|cost)\b",
        r"\b(?:prices?|costs?|fees?|preis|kosten|prix|tarif|coût)\b[^\d\n]{0,20}\d",
    ),
    "date": (
        _YEAR,
        rf"\b\d{{1,2}}\.? ?{_MONTH}\b",
        rf"\b{_MONTH}\b",
        rf"\b{_DAY}",
        r"\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}",
        r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|o['’]clock)\b",
        r"\b\d{1,2} ?[–-] ?\d{1,2}\b|\bfrom \d{1,2} to \d{1,2}\b",
        rf"\b(?:at|by|till|past) {_any('one two three four five six seven eight nine ten eleven twelve')}",
        rf"\b(?:um|ab|bis) {_any('eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf')}",
        r"\b" + _any("mornings? afternoons? evenings? nights? morgens vormittags? mittags nachmittags? abends? nachts"),
        r"\b" + _any("matin(?:ée)?s? après-midi soir(?:ée)?s? nuits?"),
        r"\b" + _any("noon midnight daily today always never spring summer autumn winter century every each jeden?"),
        r"\b" + _any("when before after until once if during täglich wenn sobald nach vor"),
        r"\b" + _any("dès avant après lorsque quand pendant toujours jamais (?:jusqu|lorsqu) aujourd (?:à|au) partir"),
        _AMOUNT + _TIME,
    ),
    "duration": (
        _AMOUNT + _KIND_OF_DAY + _TIME,
        r"(?<!\d)\d{1,9}:\d\d",
        rf"\b(?:a|an|per|each|one) {_TIME}",
        r"\b" + _any("until unlimited forever indefinitely never overnight jusqu illimitée?s? jamais"),
        r"\bno limit\b",
    ),
    "length": (
        _AMOUNT
        + _any(
            "[kcmµn]?m (?:kilo|centi|milli)?met(?:er|re)s? miles? feet foot ft inch(?:es)? in yards? pixels? px"
            " characters? chars? bytes? words? pages? lines? letters? columns? zeichen seiten wörter"
        ),
        r"\d\s?[″′\"]",
        r"(?<!\d)\d{1,9}\s?[x×]\s?\d{1,9}",
    ),
    "weight": (
        _AMOUNT
        + _any("[km]?g grams? gramm kilos? kilogram(?:m|s)? tons? tonnes? tonnen t lbs? pounds? oz ounces? pfund"),
    ),
    "temperature": (rf"{_AMOUNT}(?:°|degrees?\b|grad\b|kelvin\b|[CFK]\b)",),
    "age": (_AMOUNT + _TIME, r"\b\d{1,3}\b(?!\s*[\w%°€$])", _YEAR, r"\bcentury\b|jahrhundert"),
    "telephone": (r"\d[\d ()/.-]{4,20}\d",),
    "frequency": (
        r"\d",
        r"\b" + _any("once twice daily weekly monthly yearly annually hourly always never rarely sometimes regularly"),
        r"\b" + _any("fois chaque (?:quotidien|hebdomadaire|mensuel|annuel)(?:le)?(?:ment)? jamais"),
        r"\b" + _any("einmal zweimal täglich wöchentlich monatlich jährlich every each per jede[nrs]? alle pro"),
        rf"\b(?:a|an) {_TIME}",
        _AMOUNT + _any("times? mal"),
    ),
}
_PATTERNS = {value: late_pattern("|".join(patterns), re.IGNORECASE) for value, patterns in _VALUES.items()}
_MEASURES = (
    "timeout limit size capacity interval port length width height depth weight price cost fee age temperature speed"
    " quota maximum minimum number percentage rate distance duration population voltage power deadline"
)
_NAMED_AFTER = (  # what is named after a value is none
    "zones? formats? notations? styles? syntax patterns? separators? pickers? fields? columns? filters? types? units?"
    " settings? options? functions? class(?:es)? objects? modules? limits? ranges? spans?"
)
_QUESTIONS: tuple[tuple[str, tuple[Value, ...]], ...] = (
    (r"\bhow old\b|\bwie alt\b", ("age",)),
    (r"\bhow (?:often|frequently|many times)\b|\bwie oft\b", ("frequency",)),
    (r"\bhow (?:heavy|much (?:does|do|did) .{1,80} weigh)\b|\bwie schwer\b|\bwie ?viel wieg", ("weight",)),
    (r"\bhow (?:hot|cold|warm)\b|\bwhat temperature\b|\bwie (?:heiß|kalt|warm)\b", ("temperature",)),
    (r"\bhow (?:tall|wide|high|deep|thick|far|large|big)\b|\bwie (?:breit|hoch|tief|dick|weit|groß)\b", ("number",)),
    (r"\bhow long (?:is|are|may|can) (?:a|the|an)\b", ("length", "duration", "number")),
    (r"\bhow long\b|\bwie lange?\b|\b(?:within|for|after) how (?:many|long)\b", ("duration", "date", "length")),
    (
        r"\bhow much .{0,60}\b(?:cost|charge|fee|price)|\bhow expensive\b"
        r"|\bhow much (?:is|are) (?:the|a|an)\b(?!.{1,40}\b(?:pay|leave|notice)\b)",
        ("money",),
    ),
    # severance pay and sick pay are stated in weeks, too
    (r"\bhow much (?:do|does|did|must|should|shall|will|would|can|could|has|have)\b.{0,60}\bpay\b", ("money",)),
    (r"\bwas kostet\b|\bwie (?:viel kostet|teuer)\b|\b(?:price|fee|cost) (?:of|for)\b", ("money",)),
    (  # "within a week" is a number of days, too
        rf"\bhow (?:many|much) (?:more |working |business |calendar )?(?:{_TIME}|(?:time|notice|leave)\b)"
        rf"|\bwie ?viele? (?:{_TIME}|zeit\b)|\bcombien d(?:e |['’]){_TIME}",
        ("number", "duration"),
    ),
    (r"\bhow (?:many|much)\b|\bwie ?viele?\b", ("number",)),
    (r"\b(?:combien|quel) (?:de )?(?:temps|délai)\b|\bquelle (?:est la )?durée\b", ("duration", "date")),
    (
        r"\bcombien (?:ça |cela )?(?:coûte|coûtent|coute|vaut|faut-il payer|dois-je payer)"
        r"|\bquel(?:s|le)? (?:est le |est la |sont les )?(?:prix|tarif|coût|cout|montant|taxe)",
        ("money",),
    ),
    (r"\bquel âge\b", ("age",)),
    (r"\bcombien de fois\b|\bà quelle fréquence\b", ("frequency",)),
    (r"\bcombien\b", ("number",)),
    (r"^(?:(?:à|depuis|jusqu['’]à) )?(?:quand|quelle (?:date|heure|année)|quel jour)\b", ("date",)),
    (
        r"^(?:(?:and|so|since|until|from|by|on|at) )?"
        r"when (?:is|are|was|were|do|does|did|can|will|must|should|has|have)\b"
        r"(?!.*, (?:how|what|why|which|can|do)\b)|\b(?:since|until) when\b",
        ("date",),
    ),
    (
        rf"^(?:(?:and|at|on|by) )?(?:what|which) (?:time|date|day|year|month)\b(?! {_any(_NAMED_AFTER)})"
        r"|^(?:(?:ab|bis|seit) )?wann\b",
        ("date",),
    ),
    (r"\b(?:what|which) (?:tcp |udp |default |network )?port\b|\bport (?:number|does|is)\b", ("figure",)),
    (r"\bwelche[nmrs]? (?:port|nummer)\b", ("figure",)),
    (r"\b(?:phone|telephone|fax) number\b|\b(?:telefon|fax)nummer\b", ("telephone",)),
    (r"^which of\b.{1,80}\b(?:lightest|heaviest)\b", ("weight",)),
    (r"^which of\b.{1,80}\b(?:cheapest|longest|shortest|tallest|oldest|largest|smallest|fastest)\b", ("number",)),
    (
        rf"\b(?:what|which) (?:is|was|are|were) (?:the|a|an|its|their) (?:[\w-]+ ){{0,3}}{_any(_MEASURES)}"
        r"(?=\s+(?:of|for|in|on|at|to|per|between)\b|\s*[?.]?$)",
        ("number", "money", "date"),
    ),
)
_MEASURED: tuple[tuple[str, tuple[Value, ...]], ...] = (
    ("prices? costs? fees? prix tarifs? coûts? montant", ("money",)),
    ("délais? durée", ("duration", "date")),
    (
        "ports? size capacity width height depth length weight age speed temperature ram voltage population distance",
        ("figure",),
    ),
)
_NO_KEYWORD = (
    "what which who whom whose when where why how is are was were do does did can could may might must shall should"
    " will would has have had if list show change set configure open close add remove use get find make create increase"
    " reduce limit choose check allow the an?"
)
_SENTENCE = late_pattern(rf"{_any(_NO_KEYWORD)}", re.IGNORECASE)
_SIDES = r"^(?:which|what|who|is|are|was|does|do|has|have)\b.{1,120}\b"  # a comparison of two things
_COMPARISONS: tuple[tuple[str, tuple[Value, ...]], ...] = (
    ("(?:lighter|heavier)", ("weight",)),
    ("(?:cheaper|(?:more|less) expensive)", ("money", "number")),
    ("(?:longer|shorter)", ("duration", "length")),
    ("(?:hotter|colder|warmer|cooler)", ("temperature",)),
    ("(?:older|newer|younger)", ("age", "date")),
    ("(?:taller|wider|higher|deeper|thicker|larger|bigger|smaller|narrower|lower|faster|slower)", ("number",)),
)
_ALL = (*_QUESTIONS, *((rf"{_SIDES}{word}\b.{{1,120}}\bor\b", values) for word, values in _COMPARISONS))
_RULES = tuple((late_pattern(pattern, re.IGNORECASE), frozenset(values)) for pattern, values in _ALL)
_KEYWORDS: tuple[tuple[re.Pattern[str], frozenset[Value]], ...] = tuple(
    (
        late_pattern(
            rf"^(?!{_any(_NO_KEYWORD)})(?:[\w.+'’-]+ ){{0,6}}?{_any(words)}(?! (?:up|\w+ing|est|sont|de vente)\b)"
            r"(?= |$)",
            re.IGNORECASE,
        ),
        frozenset(values),
    )
    for words, values in _MEASURED
)
"""Words without a sentence that name what is measured: `router port`, `ticket price child`, `prix passeport`."""
_TOPICAL = late_pattern(
    r"^(?:how (?:do|does|can|could|should|would|to|is|are)|who|why|where|can|could|may|should)\b", re.I
)
_MAX_READ = 2_000
_MOST_KEYWORDS = 7
_NAMES = late_pattern(r"(?<![^\W\d_])[^\W\d_]+[ -]?\d[\w.]*")  # with digits: X210, branch 12


_ALTERED = late_pattern(rf"\b{ALTERING}\w* \(?(?:how|when|where|what|which)\b.*$", re.IGNORECASE | re.DOTALL)


def values_wanted(question: str) -> frozenset[Value]:
    """The kinds of values of which a text must hold at least one to answer; empty where no rule fits. A question that
    asks for two things wants either; that of how something is done, who does it, or how a value is changed, wants none
    of those that it names.
    """
    text = _ALTERED.sub("", question.strip()[:_MAX_READ])
    if len(text.split()) <= _MOST_KEYWORDS:
        for keywords, values in _KEYWORDS:
            if keywords.match(text):
                return values
    wanted: set[Value] = set()
    read: set[int] = set()  # characters that a rule has taken
    is_topical = _TOPICAL.match(text) is not None
    for pattern, values in _RULES:
        for match in pattern.finditer(text):
            if is_topical and not match[0].lower().startswith(("how ", "wie ", "within", "for how", "after how")):
                continue
            if read.isdisjoint(range(*match.span())):
                wanted |= values
                read.update(range(*match.span()))
    return frozenset(wanted)


def is_keywords(question: str) -> bool:
    """Whether a question is a few words that name what is looked for, and no sentence."""
    text = question.strip()
    return len(text.split()) <= _MOST_KEYWORDS and not text.endswith("?") and _SENTENCE.match(text) is None


def holds_value(text: str, wanted: frozenset[Value], question: str = "") -> bool:
    """Whether `text` holds a value of a wanted kind beside those, and the names with digits, that the question itself
    has. True when nothing is wanted."""
    if not wanted:
        return True
    names, mentioned = _of_question(question[:_MAX_READ], wanted)
    for name in names:
        text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return any(match[0].casefold() not in mentioned for kind in wanted for match in _PATTERNS[kind].finditer(text))


@lru_cache(maxsize=64)  # asked for each unit of the evidence
def _of_question(question: str, wanted: frozenset[Value]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names with digits of a question, and the values of the wanted kinds that it has."""
    values = (match[0].casefold() for kind in wanted for match in _PATTERNS[kind].finditer(question))
    return tuple(dict.fromkeys(_NAMES.findall(question))), frozenset(values)
