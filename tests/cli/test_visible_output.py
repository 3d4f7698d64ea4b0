"""Nothing that a page says becomes an order to a terminal, whichever way it is written."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Callable

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from webrag_core.cli import log, output, progress
from webrag_core.cli.failures import report_error
from webrag_core.errors import WebragError
from webrag_core.history.models import OtherVersion
from webrag_core.page_text import is_seen
from webrag_core.showing.console import print_place
from webrag_core.showing.past import versions_beside
from webrag_core.showing.visible_output import VisibleStream, filter_terminals

ORDERS = re.compile(r"\x1b\[[0-9;?]*[A-HJKfhlm]|\x1b\]8;[ -~]*\x1b\\|\r")  # those of a console
HOSTILE = "a\x1b]0;t\x07b\x1b[2Jc\u009b31md\u202ee\u2066f\u200bg\ufeffh\U000e0041i\u2028j\x08\x7f\u0085k\ue000l\r"
TEXTS = st.text(
    st.one_of(
        st.sampled_from("\x1b\x1b[]0;31mJ\u009b\u009d\u0090\u202e\u2066\u200b\u2028\x07\x08\r\n a"), st.characters()
    )
)


class Terminal(io.StringIO):
    """A terminal without colours of its own."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def print_progress(text: str) -> None:
    with progress.progress(3, text) as advance:
        advance(text)


def print_phase(text: str) -> None:
    with progress.show_progress() as show:
        show(text, None)


def print_versions(text: str) -> None:
    output.print_elements([versions_beside(text, [OtherVersion(label=text, url=text, title=text, stored=True)], "")])


def print_log(text: str) -> None:
    handler = log._Lines()
    handler.setFormatter(log._Format("%(levelname)s %(name)s: %(message)s"))
    handler.emit(logging.LogRecord(text, logging.WARNING, "", 0, text, (), None))


def print_traceback(text: str) -> None:
    sys.excepthook(ValueError, ValueError(text), None)


RICH: dict[str, Callable[[str], object]] = {
    "line": output.print_line,
    "complaint": output.complain,
    "wrapped": lambda text: output.print_wrapped("  ", Text(text)),
    "table": lambda text: output.print_table(("a", text), [(text, 1), ("b", text)]),
    "versions": print_versions,
    "place": lambda text: print_place(output.out, "  ", f"https://a.example/{text}", text, in_full=False),
    "console": lambda text: output.out.print(text, markup=False, highlight=False),
    "progress": print_progress,
    "phase": print_phase,
    "log": print_log,
    "error": lambda text: report_error(WebragError(text), as_json=False),
}
RAW: dict[str, Callable[[str], object]] = {
    "json": lambda text: output.print_json({text: [text]}),
    "echo": typer.echo,
    "print": print,
    "traceback": print_traceback,
    "stderr": lambda text: sys.stderr.write(text),
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Both streams of this process, as the command line has them on a terminal."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    filter_terminals()
    filter_terminals()
    assert isinstance(sys.stdout, VisibleStream)
    return terminal


def written(terminal: Terminal, write: Callable[[str], object], text: str) -> str:
    terminal.seek(0)
    terminal.truncate()
    write(text)
    return terminal.getvalue()


def unseen(text: str) -> set[str]:
    """Characters that no terminal should get."""
    return {one for one in ORDERS.sub("", text) if not (" " <= one <= "~" or one in "\n\t" or is_seen(one))}


@pytest.mark.parametrize("name", [*RICH, *RAW])
def test_no_order_of_a_page_reaches_a_terminal(name: str, terminal: Terminal) -> None:
    write = {**RICH, **RAW}[name]
    assert unseen(written(terminal, write, HOSTILE)) == set()
    if name in RICH:  # which have orders of their own, none of them this one
        assert "\x1b[2J" not in written(terminal, write, HOSTILE)


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_every_text_is_written_visibly_by_every_writer(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = Terminal()
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", terminal)
        filter_terminals()
        for name in ("line", "console", "log", "error", "json", "print"):
            shown = written(terminal, {**RICH, **RAW}[name], text)
            assert unseen(shown) == set(), name
            if name == "json":
                assert json.loads(shown) == {text: [text]}


@pytest.mark.slow
def test_every_character_that_is_not_seen_is_kept_from_a_terminal(terminal: Terminal) -> None:
    every = "".join(map(chr, range(0x30000))) + "".join(map(chr, range(0xE0000, 0xE0200)))
    for name in ("line", "print", "json"):
        assert unseen(written(terminal, {**RICH, **RAW}[name], every)) == set(), name


def test_what_goes_to_a_file_or_a_pipe_is_data(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)
    filter_terminals()
    output.print_json({"text": HOSTILE})
    assert sys.stdout is pipe
    assert "\u202e" in pipe.getvalue()
    assert json.loads(pipe.getvalue()) == {"text": HOSTILE}
