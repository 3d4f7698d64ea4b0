"""What reaches a terminal: one filter for consoles and one for everything else that is written.

Text of pages may hold orders to a terminal (C0 and C1 controls), marks that turn its direction, and characters that
nobody sees. A console drops them from texts and adds its own orders; what passes by the consoles, such as tracebacks,
prompts and the log of a server, meets the stream.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable
from typing import IO, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from webrag_core.page_text import is_seen, one_line, visible

_UNUSUAL = re.compile(r"(\x1b\[[0-9;]*m)|[^\n\t\r -~]")  # colours, as of `--help`, or what may not be seen


class VisibleConsole(Console):
    """A console that shows of each text what can be seen. Its own orders (colours, links, a live line) pass by the
    filter of the terminal's stream."""

    @property  # type: ignore[misc]  # nobody sets it
    def file(self) -> IO[str]:
        """The stream that it writes to."""
        stream = super().file
        return stream.terminal if isinstance(stream, VisibleStream) else stream

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render to segments; those that are no orders of the console hold visible text."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
                continue
            style = segment.style
            if style is not None and style.link is not None:
                style = style.update_link(one_line(style.link))
            yield Segment(visible(segment.text), style)


class VisibleStream(io.TextIOBase):
    """The stream of a `terminal` that lets through visible text, and orders to colour it."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal

    def write(self, text: str) -> int:
        """Write what can be seen of a text; returns the characters that were handed over."""
        self.terminal.write(shown(text))
        return len(text)

    def flush(self) -> None:
        """Flush the terminal's stream."""
        self.terminal.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal, as the stream below says."""
        return self.terminal.isatty()

    def fileno(self) -> int:
        """The descriptor of the stream below."""
        return self.terminal.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return self.terminal.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """How the stream below handles what its encoding lacks."""
        return self.terminal.errors


def shown(text: str) -> str:
    """`text` without what no terminal should get: invisible characters, and orders but for colours."""
    return _UNUSUAL.sub(lambda match: match[0] if match[1] or is_seen(match[0]) else "", text)


def filter_terminals() -> None:
    """Put the filter before this process's terminals; does nothing where output goes elsewhere, or twice."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, VisibleStream) and stream.isatty():
            setattr(sys, name, VisibleStream(stream))
