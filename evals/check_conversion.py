"""How much of a frozen site survives conversion: code blocks, table cells, definition terms.

Compares the main element of every page with its Markdown, white space and mark-up ignored, and prints the shares as
one JSON object. Exit code 1 when anything is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from pathlib import Path

import lxml.html

from evals.goldens import DEFAULT_SITE
from webrag_core.cli_output import progress
from webrag_core.ingestion.html import convert_html
from webrag_core.ingestion.warc import WarcAcquirer

_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[\[\]`*\\|_]")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+)+", re.MULTILINE)
_LINK = re.compile(r"\]\([^)\s]*\)")
_KINDS = {"pre": "code blocks", "td": "table cells", "dt": "definition terms"}


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
            for tag in _KINDS:
                for element in main.iter(tag) if main is not None else ():
                    text = _SPACE.sub("", "".join(map(str, element.itertext())).replace("¶", ""))
                    found = text in squeezed if tag == "pre" else _MARKS.sub("", text) in plain
                    total[tag] += 1
                    kept[tag] += found
                    if not found:
                        lost.append(f"{url} <{tag}> {text[:60]}")
            advance(url)
    return {
        "pages": len(urls),
        **{name: {"kept": kept[tag], "of": total[tag]} for tag, name in _KINDS.items()},
        "lost": lost[:20],
    }


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warc", type=Path, default=DEFAULT_SITE)
    figures = asyncio.run(measure(parser.parse_args().warc))
    print(json.dumps(figures, indent=2))
    sys.exit(1 if figures["lost"] else 0)


if __name__ == "__main__":
    main()
