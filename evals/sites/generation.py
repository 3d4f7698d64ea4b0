"""Make golden queries out of the structure of a frozen site: its titles, headings and definitions.

    python -m evals.sites.generation tomcat-10.1 --items 24

They stand in for the short questions that people put to a site, and share more words with the page than questions that
a person writes; so their `origin` says `generated`, and the two are reported apart. What is made of what:

- navigational: the title of a page; the gold quote is the first sentence that has most of its words.
- keywords: a heading of two or three words that no other page has; the first sentence of its section that has most of
  them.
- how_to: a heading that names something to do ("Setting up printers", "To set up a printer"); likewise.
- numeric, yes_no: a defined term whose definition states a default that is a number, or on or off.

The quote of the first three marks the section that was asked for; it is often its beginning and not the whole answer.

An item is dropped when the check of goldens finds a problem in it, or when more than three pages carry its quote. The
written items of the file stay as they are; the generated ones are made anew. Deterministic: chance is seeded with the
name of the site.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lxml.html import HtmlElement

from evals.walks.check_goldens import DraftGolden, RecordedGolden, filled, problems_of
from evals.walks.goldens import Style, load_goldens
from evals.walks.site_map import SiteMap, document_of, key_of, letters_of, read_site
from evals.walks.suites import Suite, own_suites
from webrag_core.errors import InvalidInputError

SHARES: Mapping[Style, float] = {"keywords": 0.3, "how_to": 0.25, "navigational": 0.2, "numeric": 0.15, "yes_no": 0.1}

_MOST_PAGES = 3
_MOST_OF_A_PAGE = 2
_FIRST_SENTENCES = 6
_FEWEST_LINKS = 8
"""Pages with fewer links to other pages of the site are no place to start from."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5")
_NUMBERING = re.compile(r"^(?:(?:Chapter|Appendix|Section) )?(?:[A-Z]|\d+)?(?:\.\d+)*\.? (?=\S)|[¶#]$")
_TITLE_END = re.compile(r" ?[—|:–] | - | \(")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_POINTER = re.compile(r"\b(?:see|refer to|described in|found in|covered in|Section) |\bbelow\b|\bfollowing\b")
_WORD = re.compile(r"[a-z]{4,}")
_PLAIN = re.compile(r"[A-Za-z][\w +-]*")
_TASK = re.compile(r"[\w.’'/+-]+(?: \w[\w.’'/+-]*)+")
_TERM = re.compile(r"[A-Za-z][\w-]*[._A-Z][\w.-]{3,50}")
_TERM_WITH_DEFAULT = re.compile(r"(?P<term>[A-Za-z][\w.-]{4,50}) \(default: (?P<value>\d+\w*|yes|no)\)")
_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| to| of|:)(?: value of)? [\"'`“]?"
    r"(?P<value>\d+|true|false|on|off|enabled|disabled)\b(?!\.\d)"
)
_VAGUE = re.compile(
    r"introduction|overview|examples?|notes?|see also|description|options?|synopsis|name|index|contents|summary|general"
    r"|background|features|limitations|usage|details|questions|attributes|configuration|references|bugs|more.*|about.*"
    r"|related.*|common.*|standard.*|nested.*|special.*|other.*|additional.*|further.*|conclusion|history|default.*"
    r"|set as.*|to .*|how .*|for .*|known .*|.* case|replaced .*"
    r"|functions? and variables.*|definitions.*|part.*|type|format|warning|tip|important|environment|commands?|output",
    re.IGNORECASE,
)
_MINE = {"your": "my", "yourself": "myself", "you": "I"}
_TASKS = """
accept:accepting access:accessing add:adding allow:allowing apply:applying arrange:arranging assign:assigning
back:backing boot:booting build:building calculate:calculating change:changing check:checking choose:choosing
combine:combining compare:comparing compile:compiling compute:computing configure:configuring connect:connecting
convert:converting copy:copying create:creating customize:customizing debug:debugging
define:defining delete:deleting deploy:deploying detect:detecting disable:disabling display:displaying
download:downloading draw:drawing edit:editing enable:enabling encrypt:encrypting export:exporting find:finding
format:formatting get:getting hide:hiding import:importing include:including insert:inserting install:installing
join:joining limit:limiting list:listing load:loading manage:managing merge:merging modify:modifying
monitor:monitoring mount:mounting move:moving navigate:navigating obtain:obtaining open:opening
override:overriding partition:partitioning prepare:preparing prevent:preventing print:printing protect:protecting
publish:publishing query:querying read:reading record:recording recover:recovering remove:removing repeat:repeating
replace:replacing report:reporting reset:resetting resize:resizing resolve:resolving restrict:restricting
rotate:rotating run:running save:saving schedule:scheduling search:searching secure:securing select:selecting
send:sending set:setting share:sharing shut:shutting sort:sorting specify:specifying split:splitting start:starting
stop:stopping submit:submitting synchronize:synchronizing test:testing tune:tuning turn:turning undo:undoing
update:updating upgrade:upgrading use:using verify:verifying view:viewing write:writing
"""
_VERBS = {gerund: verb for verb, gerund in (pair.split(":") for pair in _TASKS.split())}


@dataclass(frozen=True, slots=True)
class Idea:
    """A query that the structure suggests, and the words that answer it. `page` is the key of the page it is from,
    `label` the heading, title or term that it is made of."""

    style: Style
    page: str
    label: str
    query: str
    quote: str


def generate(suite: Suite, site: SiteMap, items: int) -> list[RecordedGolden]:
    """At most `items` queries of a site, every style in its share as far as the site has them. Most start where most of
    the file's items start, the others on pages that are linked from there."""
    chance = random.Random(suite.name)
    ideas = _unique([idea for page in site.pages for idea in ideas_of(page, site)])
    [(start, _)] = Counter(key_of(golden.seed_url) for golden in load_goldens(suite.golden)).most_common(1)
    sections = [key for key in sorted(site.pages[start].links & site.pages.keys())
                if len(site.pages[key].links & site.pages.keys()) >= _FEWEST_LINKS]  # fmt: skip
    seeds = [start, *chance.sample(sections, k=min(8, len(sections)))]
    distances = {seed: site.distances(seed, content_only=False) for seed in seeds}
    chosen: list[RecordedGolden] = []
    uses: dict[str, int] = defaultdict(int)
    labels: set[str] = set()
    for style, share in SHARES.items():
        of_style = [idea for idea in ideas if idea.style == style]
        chance.shuffle(of_style)
        room = round(items * share)
        for idea in of_style:
            reached = [seed for seed in distances if 1 <= distances[seed].get(idea.page, 0) <= 2]
            if room == 0 or not reached or uses[idea.page] >= _MOST_OF_A_PAGE or idea.label in labels:
                continue
            seed = start if start in reached and chance.random() < 0.6 else chance.choice(reached)
            golden = _golden(idea, site, f"{suite.name.rpartition('-')[0]}-g{len(chosen) + 1:03d}", suite.name, seed)
            if golden is not None:
                chosen.append(golden)
                uses[idea.page] += 1
                labels.add(idea.label)
                room -= 1
    return chosen


def ideas_of(key: str, site: SiteMap) -> Iterator[Idea]:
    """The queries that one page suggests."""
    page = site.pages[key]
    document = document_of(page.body)
    sections = list(_sections(document))
    title = _label(_TITLE_END.split(page.title.strip())[0])
    if sections and _PLAIN.fullmatch(title) and len(title.split()) > 1 and not _VAGUE.fullmatch(title):
        quote = _naming(title, sections[0][1])
        if quote:
            yield Idea("navigational", key, title, _lowered(title), quote)
    for heading, sentences in sections:
        quote = _naming(heading, sentences)
        if not quote:
            continue
        task = _task(heading)
        if task:
            yield Idea("how_to", key, heading, f"How do I {task}?", quote)
        elif _PLAIN.fullmatch(heading) and 2 <= len(heading.split()) <= 3 and not _VAGUE.fullmatch(heading):
            yield Idea("keywords", key, heading, _lowered(heading), quote)
    for term, value, quote in _defaults(document):
        if value[0].isdigit():
            yield Idea("numeric", key, term, f"What is the default of {term}?", quote)
        else:
            yield Idea("yes_no", key, term, f"Is {term} on by default?", quote)


def _golden(idea: Idea, site: SiteMap, name: str, suite: str, seed: str) -> RecordedGolden | None:
    """The golden of an idea; None when it would not hold."""
    draft = DraftGolden(
        id=name,
        site=suite,
        seed_url=site.pages[seed].url,
        query=idea.query,
        style=idea.style,
        origin="generated",
        gold_quotes=[[idea.quote]],
    )
    try:
        golden = filled(draft, site)
    except InvalidInputError:  # the seed is farther off than any kind allows
        return None
    return None if len(golden.gold_pages[0]) > _MOST_PAGES or problems_of(golden, site) else golden


def _unique(ideas: list[Idea]) -> list[Idea]:
    """The ideas whose label only one page has: any other would have answers that the quote does not name."""
    pages: dict[str, set[str]] = defaultdict(set)
    for idea in ideas:
        pages[letters_of(idea.label)].add(idea.page)
    singles = {(idea.style, idea.query): idea for idea in ideas if len(pages[letters_of(idea.label)]) == 1}
    return list(singles.values())


def _sections(document: HtmlElement) -> Iterator[tuple[str, list[str]]]:
    """Headings with the sentences of the first paragraphs right after them."""
    heading, sentences = "", list[str]()
    for element in document.iter(*_HEADINGS, "p", "div"):
        if element.tag in _HEADINGS:
            if sentences:
                yield heading, sentences
            heading, sentences = _label(_text(element)), []
        elif heading and len(sentences) < _FIRST_SENTENCES and (element.tag == "p" or element.get("class") == "para"):
            sentences += [word for word in _SENTENCE.split(_text(element)) if _is_quotable(word)]
    if sentences:
        yield heading, sentences


def _is_quotable(sentence: str) -> bool:
    """True for a whole sentence that says something itself, instead of where it is said."""
    return (
        40 <= len(sentence) <= 300 and sentence[0].isupper() and sentence[-1] == "." and not _POINTER.search(sentence)
    )


def _naming(label: str, sentences: list[str]) -> str | None:
    """The first sentence that has two thirds of the label's longer words; words are alike when they begin alike."""
    stems = {word[:5] for word in _WORD.findall(label.lower())}
    for sentence in sentences:
        if 3 * len(stems & {word[:5] for word in _WORD.findall(sentence.lower())}) >= max(2, 2 * len(stems)):
            return sentence
    return None


def _defaults(document: HtmlElement) -> Iterator[tuple[str, str, str]]:
    """Defined terms, the defaults that their definitions state, and the words that do so."""
    for term in document.iter("dt"):
        stated = _TERM_WITH_DEFAULT.fullmatch(_text(term))
        if stated:
            yield stated["term"], stated["value"], stated[0]
    pairs = [(term, term.getnext()) for term in document.iter("dt")]
    pairs += [(cells[0], cells[-1]) for row in document.iter("tr") if len(cells := row.findall("td")) == 2]
    for term, definition in pairs:
        name = _text(term)
        if definition is None or definition.tag not in ("dd", "td") or not _TERM.fullmatch(name):
            continue
        sentences = _SENTENCE.split(_text(definition))
        for place, sentence in enumerate(sentences):
            stated = _DEFAULT.search(sentence)
            if stated and len(sentence) <= 250:
                short = len(letters_of(sentence)) < 40 and place > 0
                yield name, stated["value"], f"{sentences[place - 1]} {sentence}" if short else sentence
                break


def _task(heading: str) -> str | None:
    """What a heading tells to do, as its reader would say it; None when it tells nothing of the kind."""
    words = [_MINE.get(word, word) for word in _lowered(heading.removesuffix(".")).split()]
    if not 3 <= len(words) <= 9 or not _TASK.fullmatch(heading):
        return None
    if words[0] == "to":
        return " ".join(words[1:]) if words[1] in _VERBS.values() else None
    if words[0] not in _VERBS:
        return None
    task = [_VERBS[words[0]]]
    for before, word in itertools.pairwise(words):
        if before in ("and", "or") and word.endswith("ing") and word not in _VERBS:
            return None
        task.append(_VERBS.get(word, word) if before in ("and", "or") else word)
    return " ".join(task)


def _lowered(label: str) -> str:
    """The label as one would type it: in small letters but for abbreviations and names in code."""
    words = (label.lower() if label.isupper() else label).split()
    return " ".join(word.lower() if word.istitle() else word for word in words)


def _label(text: str) -> str:
    """A heading or title without its number and link mark."""
    return _NUMBERING.sub("", _NUMBERING.sub("", text.strip())).strip()


def _text(element: HtmlElement) -> str:
    return " ".join(str(element.text_content()).split())


def main() -> None:
    """Command line entry."""
    suites = own_suites()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=list(suites))
    parser.add_argument("--items", type=int, default=24)
    arguments = parser.parse_args()
    suite = suites[arguments.name]
    site = asyncio.run(read_site(suite.warc))
    lines = [
        line for line in suite.golden.read_text(encoding="utf-8").splitlines() if '"origin":"generated"' not in line
    ]
    items = generate(suite, site, arguments.items)
    lines += [golden.model_dump_json() for golden in items]
    suite.golden.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(items)} generated items in {suite.golden}")


if __name__ == "__main__":
    main()
