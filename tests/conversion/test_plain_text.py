"""Prose in <pre> and in text files is cut into headings, paragraphs, lists and terms; code in <pre> stays as it is."""

from __future__ import annotations

import html
import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from tests.conftest import REPOSITORY
from tests.conversion.preformatted_samples import CODE
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html
from webrag_core.indexing.markdown import parse_blocks

URL = "https://manuals.example/page"
MANUALS = REPOSITORY / "benchmarks" / "corpus" / "plain_text"

PARAGRAPH = """\
The relay keeps a connection open for as long as something is sent over it in
either direction. When nothing was sent for fifty seconds, it closes the
connection and writes a line to the log. This time can be changed for all of the
relay and for each address of it.
"""
GERMAN = """\
Das Relais hält eine Verbindung offen, solange in einer der beiden Richtungen
etwas gesendet wird. Wurde fünfzig Sekunden lang nichts gesendet, so schließt es
die Verbindung und schreibt eine Zeile in das Protokoll. Diese Zeit kann für das
ganze Relais und für jede seiner Adressen geändert werden.
"""
FRENCH = """\
Le relais garde une connexion ouverte tant que des données sont envoyées dans
l'une des deux directions. Si rien n'a été envoyé pendant cinquante secondes, il
ferme la connexion et écrit une ligne dans le journal. Cette durée peut être
changée pour tout le relais et pour chacune de ses adresses.
"""
POLISH = """\
Przekaźnik utrzymuje połączenie otwarte tak długo, jak coś jest wysyłane w
jednym z kierunków. Jeżeli przez pięćdziesiąt sekund nic nie zostało wysłane, to
zamyka połączenie i zapisuje wiersz w dzienniku. Ten czas można zmienić dla
całego przekaźnika i dla każdego z jego adresów.
"""
RUSSIAN = """\
Ретранслятор держит соединение открытым, пока по нему что-либо передаётся в
одном из направлений. Если в течение пятидесяти секунд ничего не передавалось,
он закрывает соединение и записывает строку в журнал. Это время можно изменить
для всего ретранслятора и для каждого из его адресов.
"""
CHINESE = """\
只要任一方向上仍有数据传输，中继就会保持连接打开。如果五十秒内没有任何数据传
输，它就会关闭连接并在日志中写入一行。这个时间可以针对整个中继进行更改，也可
以针对它的每个地址进行更改。配置文件中的每一行都是一个关键字及其参数，参数之间
以空格或制表符分隔。井号之后的所有内容都是注释。
"""


def page_of(text: str, around: str = "{}") -> ConvertedPage:
    body = f"<html><body>{around.format('<pre>' + chr(10) + html.escape(text) + '</pre>')}</body></html>"
    return convert_html(body.encode(), url=URL, charset="utf-8")


def file_of(text: str, media_type: str = "text/plain") -> ConvertedPage:
    headers = {"content-type": f"{media_type}; charset=utf-8"}
    return convert_page(
        AcquiredPage(URL, URL, 200, headers, text.encode(), datetime(2026, 3, 1, tzinfo=UTC), len(text))
    )


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("name", CODE)
def test_code_stays_as_it_is(name: str) -> None:
    text = CODE[name].strip("\n")
    assert page_of(text).markdown.strip() == f"```\n{text}\n```", name


@pytest.mark.parametrize("name", CODE)
def test_text_files_of_code_stay_as_they_are(name: str) -> None:
    assert file_of(CODE[name]).markdown == CODE[name]


@pytest.mark.parametrize("text", [PARAGRAPH, GERMAN, FRENCH, POLISH, RUSSIAN, CHINESE])
@pytest.mark.parametrize("indent", ["", "   "])
def test_paragraphs_become_one_line_each(text: str, indent: str) -> None:
    lines = [indent + line for line in text.splitlines()]
    glue = "" if text is CHINESE else " "
    once = glue.join(text.splitlines())
    assert page_of("\n".join([*lines, "", *lines])).markdown.split("\n\n") == [once, once + "\n"]


def test_prose_that_the_markup_calls_code_stays_code() -> None:
    for around in ('<div class="highlight-python">{}</div>', '<div class="language-c">{}</div>'):
        assert page_of(PARAGRAPH, around).markdown.startswith("```")
    body = f"<html><body><pre><code>{PARAGRAPH}</code></pre></body></html>"
    assert convert_html(body.encode(), url=URL, charset="utf-8").markdown.startswith("```")


def test_every_word_of_a_manual_is_kept_in_order() -> None:
    text = (MANUALS / "quayside-manual.txt").read_text()
    markdown = page_of(text).markdown
    shown, written = (
        words(without) for without in (re.sub(r"[`#\\\\]", "", markdown), text.replace("command-\n", "command-"))
    )
    assert [word for word in shown if not word.isdecimal()] == [word for word in written if not word.isdecimal()]
    assert Counter(shown) == Counter(written)


def test_keywords_of_a_manual_are_found_by_their_path() -> None:
    markdown = page_of((MANUALS / "quayside-manual.txt").read_text()).markdown
    paths = {
        markdown[block.start : block.end].split("\n")[0][:24].lstrip(": "): block.heading_path
        for block in parse_blocks(markdown)
    }
    assert paths["Sets the greatest number"][1:] == (
        "2. Global section",
        "2.2. Performance tuning",
        "max-moorings <number>",
    )
    assert paths["marks a machine that"][-1] == "spare"
    assert "hull <name> <address>[:<port>] [weight <number>] [spare]" in paths["marks a machine that"]


def test_examples_in_a_manual_stay_code() -> None:
    markdown = page_of((MANUALS / "quayside-manual.txt").read_text()).markdown
    assert (
        "```\nberth shop\n    listen 198.51.100.7:80\n    listen 198.51.100.7:443 tls /etc/quayside/shop.pem\n```"
        in markdown
    )
    code = [markdown[block.start : block.end] for block in parse_blocks(markdown) if block.kind == "code"]
    assert not any("defaults to the port" in text or "is written to the log" in text for text in code)


def test_headings_follow_that_of_the_page() -> None:
    text = f"OVERVIEW\n\n{PARAGRAPH}\nDETAILS\n\n{PARAGRAPH}"
    markdown = page_of(text, "<h1>Relay</h1><h2>Manual</h2>{}").markdown
    assert [line for line in markdown.splitlines() if line.startswith("#")] == [
        "# Relay", "## Manual", "### OVERVIEW", "### DETAILS"]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "headings"),
    [
        ("Relays\n======\n\n{0}\nTimes\n-----\n\n{0}", ["# Relays", "# Times"]),
        (
            "1. Relays\n\n{0}\n1.1. Times of day\n\n{0}\n2. Log\n\n{0}",
            ["# 1. Relays", "## 1.1. Times of day", "# 2. Log"],
        ),
        ("1.  Relays\n\n   {0}\nAppendix A.  Times\n\n   {0}", ["# 1. Relays", "# Appendix A. Times"]),
        (
            "* Relays\n\n{0}\n** Times are kept\n\n{0}\n** The log\n\n{0}",
            ["# Relays", "## Times are kept", "## The log"],
        ),
        ("RELAYS\n       {0}\nSEE ALSO\n       {0}", ["# RELAYS", "# SEE ALSO"]),
    ],
)
def test_titles_become_headings(written: str, headings: list[str]) -> None:
    indent = " " * (7 if "SEE ALSO" in written else 3 if "Appendix" in written else 0)
    text = written.format(PARAGRAPH.replace("\n", "\n" + indent).rstrip(" "))
    markdown = page_of(text).markdown
    assert [re.sub(" +", " ", line) for line in markdown.splitlines() if line.startswith("#")] == headings
    assert "keeps a connection open for as long as something is sent over it in either direction." in markdown


@pytest.mark.parametrize("marker", ["-", "*", "o ", "•"])
def test_lists_keep_their_items(marker: str) -> None:
    pad = " " * (len(marker) + 3)
    text = (
        f"{PARAGRAPH}\nIt closes a connection :\n\n"
        f"  {marker} when nothing was sent over it for the time that was set in the\n"
        f"{pad}file;\n  {marker} when the machine behind it is down.\n"
    )
    assert page_of(text).markdown.endswith(
        "- when nothing was sent over it for the time that was set in the file;\n"
        "- when the machine behind it is down.\n"
    )


def test_options_become_terms() -> None:
    options = """\
SETTLE(1)                        User Commands                        SETTLE(1)

NAME
       settle - settle the open invoices of an account

DESCRIPTION
       Settle  takes  an  amount  from the oldest invoice of an account first,
       and from the next one when something is left. Nothing is written before
       all of it is settled, so that a failure leaves the account as it was.

OPTIONS
       -a, --amount=NUMBER
              Settle NUMBER at most. Without this option, all that is open  is
              set-
              tled.

       -n     Only show what would be done.

       -q, --quiet
              no output at all but errors

EXIT STATUS
       0      if all went well,

       1      if the account is not known.
"""
    assert (
        page_of(options.replace("set-\n              tled", "settled")).markdown
        == """\
# SETTLE(1) User Commands

## NAME

settle - settle the open invoices of an account

## DESCRIPTION

Settle takes an amount from the oldest invoice of an account first, and from the next one when something is left. \
Nothing is written before all of it is settled, so that a failure leaves the account as it was.

## OPTIONS

-a, --amount=NUMBER
:   Settle NUMBER at most. Without this option, all that is open is settled.

-n
:   Only show what would be done.

-q, --quiet
:   no output at all but errors

## EXIT STATUS

0
:   if all went well,

1
:   if the account is not known.
"""
    )


def test_pages_of_a_printer_become_one_text() -> None:
    markdown = file_of((MANUALS / "lantern-protocol.txt").read_text()).markdown
    assert "[Page" not in markdown
    assert "Ferrier" in markdown
    assert markdown.count("Lantern Signalling") < 4
    assert (
        "a station that has sent three signals without an answer waits for a minute before it sends the next one."
        in markdown
    )


def test_pages_in_boxes_of_their_own_become_one_text() -> None:
    pages = (MANUALS / "lantern-protocol.txt").read_text().split("\f\n")
    boxes = "</pre>\n<hr class='noprint'/><!--NewPage--><pre class='newpage'>".join(map(html.escape, pages))
    page = convert_html(f"<html><body><pre>{boxes}</pre></body></html>".encode(), url=URL, charset="utf-8")
    assert page.markdown == file_of("\f\n".join(pages)).markdown


def test_divided_words_become_whole_where_that_is_certain() -> None:
    text = f"""{PARAGRAPH}
When the machine behind the relay cannot be reached any more, then the connec-
tion is closed by the relay, and not by its sender, as it would be for a long-
lived one. The numbers of both are written to the log, with all of their pre-
and postfixes, so that everybody can see what has happened to them.
"""
    assert page_of(text).markdown.split("\n\n")[-1] == (
        "When the machine behind the relay cannot be reached any more, then the connection is closed by the relay, and"
        " not by its sender, as it would be for a long-lived one. The numbers of both are written to the log, with all"
        " of their pre- and postfixes, so that everybody can see what has happened to them.\n"
    )


def test_anchors_in_a_text_lead_to_its_headings() -> None:
    body = f"""<html><body><pre>
<a name="sec-1"></a>1. <b>Relays</b>

{PARAGRAPH}
<span id="sec-1-1"></span>1.1. Times

{PARAGRAPH}
<a name="idle"></a>idle-after &lt;duration&gt;
  Closes a connection over which nothing was sent for the <a href="/units">duration</a>
  that is given. The default is fifty seconds.
</pre></body></html>"""
    page = convert_html(body.encode(), url=URL, charset="utf-8")
    ends = {name: page.markdown[:offset].rsplit("\n", 1)[-1] for name, offset in page.markup.anchors}
    assert ends == {"sec-1": "# 1. Relays", "sec-1-1": "## 1.1. Times", "idle": "idle-after <duration>"}
    assert [link.target_url for link in page.links] == ["https://manuals.example/units"]


@pytest.mark.parametrize(
    "text",
    [
        f"# Relays\n\n{PARAGRAPH}\n## Times\n\n{PARAGRAPH}",
        f"{PARAGRAPH}\n```sh\nrelay --check\n```\n\n{PARAGRAPH}\n```\nrelay\n```\n",
        f"See [the manual](https://manuals.example/) and [the log](log.html).\n\n{PARAGRAPH}",
    ],
)
def test_text_files_that_are_markdown_stay_as_they_are(text: str) -> None:
    assert file_of(text).markdown == text
    assert file_of(text, "text/markdown").markdown == text


def test_titles_of_text_files_are_known() -> None:
    assert file_of((MANUALS / "quayside-manual.txt").read_text()).title == "Quayside Configuration Manual"


def test_overstrikes_of_a_terminal_are_one_letter() -> None:
    bold = "".join(f"{letter}\b{letter}" if letter.isalpha() else letter for letter in PARAGRAPH)
    assert file_of(bold + "\n" + PARAGRAPH).markdown.count("closes the connection") == 2


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 100_000 + PARAGRAPH,
        "a" * 500_000 + "\n" + PARAGRAPH,
        "is it " * 100_000,
        "\n".join(" " * (number % 700) + "so it is and so it was in all of the days" for number in range(1_000)),
        "\n".join(" " * number + "- and so on" for number in range(500)),
        "-" * 100_000 + "\n" + PARAGRAPH + "[Page 1]\n" * 5_000,
        PARAGRAPH * 2 + "(" * 50_000,
    ],
    ids=["blank lines", "one letter", "one line", "stairs", "nested lists", "rules", "parentheses"],
)
def test_hostile_texts_end(text: str) -> None:
    assert page_of(text).markdown.strip()
