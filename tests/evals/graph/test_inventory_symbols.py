"""Symbols are counted against the inventory, with it and without it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evals.graph.inventory_symbols import measure, symbols_by_page
from evals.sites.packing import write_warc
from tests.acquisition.served_map import inventory

PAGE = """<html><head><title>Q</title></head><body><main><h1>Queues</h1><p>Words about the use of queues.</p>
<dl><dt class=sig id=m.Queue>class Queue()</dt><dd>One.</dd><dt class=sig>other()</dt><dd>Two.</dd></dl>
</main></body></html>"""


def test_with_an_inventory_its_names_are_defined(tmp_path: Path) -> None:
    (tmp_path / "q.html").write_text(PAGE)
    (tmp_path / "objects.inv").write_bytes(
        inventory("m.Queue py:class 1 q.html#$ -", "m.gone py:function 1 q.html#$ -", "x py:data 1 none.html#$ -")
    )
    write_warc(tmp_path / "q.warc.gz", [("https://d.example/q.html", tmp_path / "q.html")])
    pages = symbols_by_page(tmp_path / "objects.inv", "https://d.example/")
    report, wrong = asyncio.run(measure(tmp_path / "q.warc.gz", pages))
    assert report == {
        "symbols": 2,
        "without": {"defined": 0, "in no inventory": 2},
        "with": {"defined": 1, "in no inventory": 1},
    }
    assert wrong == {
        "missing": ["https://d.example/q.html m.gone"],
        "in no inventory": ["https://d.example/q.html other"],
    }
