"""Cells that claim rows and columns which their table does not have."""

from __future__ import annotations

from webrag_core.conversion.html import convert_html


def markdown(table: str) -> str:
    page = f"<main><p>Some words before it.</p><table>{table}</table></main>"
    return convert_html(page.encode(), url="https://site.example/").markdown


def test_a_table_that_claims_a_million_columns_keeps_its_cells() -> None:
    row = "<tr><td colspan=1000000 rowspan=1000000>one</td><td>two</td></tr>"
    text = markdown(row * 100)
    assert text.count("| one | two |") == 100
    assert len(text) < 5_000


def test_spans_that_a_table_can_hold_stay() -> None:
    text = markdown("<tr><th colspan=2>both</th></tr>" + "<tr><td>left</td><td>right</td></tr>" * 3)
    assert "| both | |" in text
    assert text.count("| left | right |") == 3
