"""How much of a frozen site survives conversion: code blocks, table cells, definition terms, headings.

Compares the main element of every page with its Markdown, white space and mark-up ignored, and prints the shares as
one JSON object. Prompts of a shell that are marked as such are no code. A heading is kept when it stands in the
Markdown as a heading of its level, as often as in the page. Exit code 1 when anything is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path

import lxml.html
from lxml.html import HtmlElement

from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.conversion.html import convert_html

_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[\[\]`*\\|_]")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+)+", re.MULTILINE)
_LINK = re.compile(r"\]\([^)\s]*\)")
_FENCED = re.compile(r"^( *)(```+|~~~+).*?^\1?\2 *$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^ *(#{1,6}) +(.*?) *$", re.MULTILINE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS = {"pre": "code blocks", "td": "table cells", "dt": "definition terms", "h": "headings"}


async def measure(warc: Path) -> dict[str, object]:
    """Counts of kept and all elements per kind, and the first places where something is lost."""
    acquirer = WarcAcquirer(warc)
    urls = acquirer.page_urls()
    kept: Counter[str] = Counter()
    total: Counter[str] = Counter()
    lost: list[str] = []
    with progress(len(urls), "convert") as advance:
        for url in urls:
            page = await acquirer.fetch(url)
            main = lxml.html.document_fromstring(page.body).find(".//*[@role='main']")
            markdown = convert_html(page.body, url=url).markdown
            squeezed = _SPACE.sub("", markdown)
            words = _SPACE.sub("", _LINK.sub("", _BULLET.sub("", markdown)))
            plain = _MARKS.sub("", words)
            wanted, stand = Counter(headings_of(main) if main is not None else ()), headings(markdown)
            total["h"] += wanted.total()
            kept["h"] += (wanted & stand).total()
            lost += [f"{url} <h{level}> {text[:60]}" for level, text in wanted - stand]
            for tag in ("pre", "td", "dt"):
                for element in main.iter(tag) if main is not None else ():
                    text = _inked(element)
                    result = _is_code_kept(element, squeezed) if tag == "pre" else _MARKS.sub("", text) in plain
                    total[tag] += 1
                    kept[tag] += result
                    if not result:
                        lost.append(f"{url} <{tag}> {text[:60]}")
            advance(url)
    return {
        "pages": len(urls),
        **{name: {"kept": kept[tag], "of": total[tag]} for tag, name in _KINDS.items()},
        "lost": lost[:20],
    }


def headings(markdown: str) -> Counter[tuple[int, str]]:
    """The headings of a Markdown text outside code: (level 1-6, text without white space and marks) → how often."""
    lines = _HEADING.findall(_FENCED.sub("", markdown))
    return Counter((len(marks), _MARKS.sub("", _SPACE.sub("", _LINK.sub("", text)))) for marks, text in lines)


def headings_of(main: HtmlElement) -> list[tuple[int, str]]:
    """The headings of an element in the same form."""
    return [(int(element.tag[1]), _MARKS.sub("", _inked(element))) for element in main.iter(*_HEADINGS)]


def _is_code_kept(pre: HtmlElement, squeezed: str) -> bool:
    """Whether a block stands in the Markdown, with the prompts of its shell or without."""
    if _inked(pre) in squeezed:
        return True
    bare = deepcopy(pre)
    for prompt in bare.xpath("descendant::span[@class='gp'][not(starts-with(normalize-space(), '>>>'))]"):
        prompt.drop_tree()
    return _inked(bare) in squeezed


def _inked(element: HtmlElement) -> str:
    return _SPACE.sub("", "".join(map(str, element.itertext())).replace("¶", ""))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warc", type=Path, default=DEFAULT_SITE)
    figures = asyncio.run(measure(parser.parse_args().warc))
    print(json.dumps(figures, indent=2))
    sys.exit(1 if figures["lost"] else 0)


if __name__ == "__main__":
    main()
