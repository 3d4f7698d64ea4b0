"""Symbols that pages define, with the inventory of their site and without it, against that inventory.

    python -m evals.graph.inventory_symbols INVENTORY [--site FILE] [--base URL] [--show]

INVENTORY is an objects.inv, `--site` the frozen site that it belongs to, `--base` the address of the inventory's
folder. With it the inventory is also what extraction reads: the figure then says how many of its symbols have their
place in the text, and not how well names are guessed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from webrag_core.acquisition.sitemaps.inventory import read_inventory
from webrag_core.acquisition.urls import canonicalise
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.convert import convert_page
from webrag_core.errors import FetchError
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.indexing.graph.listed import ListedSymbol

SITE = Path(__file__).parent.parent / "sites" / "python-3.11.warc.gz"
BASE = "https://docs.python.org/3.11/"


def symbols_by_page(inventory: Path, base: str) -> dict[str, list[ListedSymbol]]:
    """The symbols of an inventory by the canonical URL of their page. Raises FetchError."""
    pages: dict[str, list[ListedSymbol]] = defaultdict(list)
    for symbol in read_inventory(inventory.read_bytes()).symbols:
        pages[canonicalise(symbol.url, base)].append(ListedSymbol(symbol.name, symbol.anchor))
    return pages


async def measure(
    site: Path, pages: Mapping[str, Sequence[ListedSymbol]]
) -> tuple[dict[str, object], dict[str, list[str]]]:
    """(report, names by what is wrong with them when the inventory is read)."""
    acquirer = WarcAcquirer(site)
    counts: dict[str, Counter[str]] = {"without": Counter(), "with": Counter()}
    wrong: dict[str, list[str]] = {"missing": [], "in no inventory": []}
    listed = 0
    for url in acquirer.page_urls():
        symbols = pages.get(url)
        if symbols is None:
            continue
        try:
            page = convert_page(await acquirer.fetch(url))
        except FetchError:
            continue
        names = {symbol.name for symbol in symbols}
        listed += len(names)
        for condition, known in (("without", ()), ("with", symbols)):
            edges = extract_edges(page.markdown, url=url, source="s", links={}, markup=page.markup, symbols=known).edges
            defined = {edge.dst.label for edge in edges if edge.kind == "defines" and edge.dst.kind == "symbol"}
            counts[condition].update({"defined": len(defined & names), "in no inventory": len(defined - names)})
            if condition == "with":
                wrong["missing"] += [f"{url} {name}" for name in sorted(names - defined)]
                wrong["in no inventory"] += [f"{url} {name}" for name in sorted(defined - names)]
    return {"symbols": listed, **{condition: dict(count) for condition, count in counts.items()}}, wrong


def main() -> None:
    """Print the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inventory", type=Path)
    parser.add_argument("--site", type=Path, default=SITE)
    parser.add_argument("--base", default=BASE)
    parser.add_argument("--show", action="store_true", help="every name that is missing, or that no inventory has")
    options = parser.parse_args()
    report, wrong = asyncio.run(measure(options.site, symbols_by_page(options.inventory, options.base)))
    print(json.dumps(report, indent=1))
    if options.show:
        for name, lines in wrong.items():
            for line in lines:
                print(f"{name}: {line}")


if __name__ == "__main__":
    main()
