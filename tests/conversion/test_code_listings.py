"""Code is code: lines and indentation stay, numbers of lines, buttons, tooltips and shell prompts go."""

from __future__ import annotations

import re

import pytest

from tests.conversion.numbered_code import MARKUPS, UNNUMBERED, lines_of
from webrag_core.conversion.html import convert_html

CODE = "# 2 pumps\nif ready:\n    start(1)\n\nwait 10\n12 done"


def convert(html: str) -> str:
    page = f"<html lang=en><body><main><h1>Title</h1><p>Words before it.</p>{html}<p>After.</p></main></body></html>"
    text = convert_html(page.encode(), url="https://site.example/p").markdown
    return text.removeprefix("# Title\n\nWords before it.\n\n").removesuffix("After.\n").strip("\n")


def code(html: str) -> list[str]:
    """The blocks of code of a body that holds nothing else."""
    text = convert(html)
    blocks = re.findall(r"^```[^\n]*\n(.*?)\n?^```$", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).strip()
    return [*blocks, *([f"outside: {rest}"] if rest else [])]


@pytest.mark.parametrize(("start", "width"), [(1, 0), (1, 3), (98, 0)])
@pytest.mark.parametrize("markup", MARKUPS)
def test_numbers_of_lines_go_in_any_markup(markup: str, start: int, width: int) -> None:
    assert code(MARKUPS[markup](lines_of(CODE, start, width))) == [CODE]


ONLY_BY_SEQUENCE = {"own names", "own names column", "hugo inline styles", "react-syntax-highlighter column"}
"""Markups in which nothing but the sequence says that a number is that of a line."""


@pytest.mark.parametrize("markup", sorted(set(MARKUPS) - ONLY_BY_SEQUENCE))
def test_the_number_of_a_single_line_goes(markup: str) -> None:
    assert code(MARKUPS[markup](lines_of("make all"))) == ["make all"]


@pytest.mark.parametrize("markup", UNNUMBERED)
def test_code_without_a_pre_keeps_its_fence_and_indentation(markup: str) -> None:
    assert code(UNNUMBERED[markup](lines_of("if (ready) {\n    start(1);\n}"))) == ["if (ready) {\n    start(1);\n}"]


@pytest.mark.parametrize(
    "html",
    [
        "10 PRINT 1\n20 GOTO 10",
        "1 2 3\n2 3 4\n3 4 5",
        "1. Fill the pump.\n2. Start it.",
        "<span class=nl>10</span> PRINT\n<span class=nl>20</span> GOTO 10",
        "<span class=mi>1</span> apple\n<span class=mi>2</span> pears",
        "<span style='color:#79B8FF'>1</span> + x\n<span style='color:#79B8FF'>2</span> + y",
        "<b>1</b> apple\n<b>2</b> pears",
        "<span class=q>1</span> apple\n<span class=q>2</span> of <span class=q>9</span>",
        "<span class=x>1</span> apple\n<span class=x>3</span> pears",
        "<span class=x>1</span> apple\nno number\n<span class=x>2</span> pears",
        "<span class=x>1</span>\n<span class=x>2</span>\n<span class=x>3</span>",
        "<span class=x>1</span>",
    ],
)
def test_code_that_begins_with_numbers_keeps_them(html: str) -> None:
    assert code(f"<pre><code>{html}</code></pre>") == [re.sub("<[^>]*>", "", html)]


@pytest.mark.parametrize(
    "table",
    [
        "<tr><td>0</td><td>Cy</td></tr><tr><td>1</td><td>Ada</td></tr><tr><td>2</td><td>Bo</td></tr>",
        "<tr><th>Place</th><th>Name</th></tr><tr><td id=L1>1</td><td>Ada</td></tr><tr><td id=L2>2</td><td>Bo</td></tr>",
        "<tr><th>No</th><th>Call</th></tr><tr><td>1</td><td><code>ls</code></td></tr><tr><td>2</td><td><code>ps</code>",
    ],
)
def test_tables_with_numbered_rows_stay_tables(table: str) -> None:
    assert re.search(r"\| 1 \| .+ \|\n\| 2 \| .+ \|", convert(f"<table>{table}</table>"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<button class=copy>Copy</button>make all<span class=copy-btn>Copy code</span>", "make all"),
        ("<div class=toolbar><div role=button>Copied!</div></div>make all", "make all"),
        ("<span class=gp>$ </span>make all\n<span class=gp>$ </span>make test", "make all\nmake test"),
        ("<span class=gp>$ </span>curl \\\n  a.html", "curl \\\n  a.html"),
        ("<span class=gp>$ </span>make all\n<span class=go>done</span>", "$ make all\ndone"),  # else who printed it?
        ("<span class='hljs-meta prompt_'>$</span> make all", "make all"),
        ("<span class='token shell-symbol'>ann@host:~#</span> make all", "make all"),
        ("<code class=prompt>C:\\pumps&gt;</code> make all", "make all"),
        ("<span style='-webkit-user-select:none;user-select: none'>% </span>make all", "make all"),
        ("<span class=gp>C:\\&gt;</span>", "C:\\>"),
        ("<span class=gp>&gt;&gt;&gt; </span>1 + 1\n2", ">>> 1 + 1\n2"),
        ("<code class=prompt>pumps=#</code> SELECT 1;\n 1", "pumps=# SELECT 1;\n 1"),
        ("<span style='user-select:none'>+</span>added\n<span style='user-select:none'>-</span>gone", "+added\n-gone"),
        ("a <a>open<span class=ttc>open_dev: opens</span></a>()<span role=tooltip>help</span>", "a open()"),
    ],
)
def test_buttons_tooltips_and_shell_prompts_are_no_code(html: str, expected: str) -> None:
    assert code(f"<pre><code>{html}</code></pre>") == [expected]


@pytest.mark.parametrize(
    "html",
    [
        "<div class=line-block><div class=line>Roses are red,</div><div class=line>violets are blue.</div></div>",
        "<p>Call <code>open</code> and then<br><code>close</code>, at last.</p>",
        "<p style='font-family: Courier, monospace'>A letter that was typed on an old machine.</p>",
        "<div style='white-space: pre-wrap'>He said\nthat it rains.</div>",
        "<ul><li><code>two\n words</code></li></ul>",
    ],
)
def test_other_boxes_are_no_code(html: str) -> None:
    assert "```" not in convert(html)


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "<pre>" + "<span class=x>1</span>" * 20_000 + "</pre>",
        "<pre>" + "".join(f"<i>{n}</i> x\n" for n in range(20_000)) + "end</pre>",
        "<div>" * 200 + "<div style='font-family:monospace'>" * 200 + "<p>a = 1;</p>" * 5_000,
        "<div class=a><span></span>" + "<pre>1</pre>" * 10_000 + "</div>",
        "<div><span>" + " <b></b>" * 10_000 + "</span>" + "<pre>x</pre>" * 2_000 + "</div>",
        "<x-a>" * 400 + "<x-b>word</x-b> " * 10_000,
        "<x-a><template shadowrootmode=open><slot></slot>" * 150 + "<slot name=q>x</slot>" * 5_000,
        "".join(f"<x-{n}>a</x-{n}>" for n in range(10_000)),
    ],
    ids=["one line", "rows", "styled", "column", "blanks", "custom", "shadow", "names"],
)
def test_hostile_pages_end_well(html: str) -> None:
    assert convert(html)
