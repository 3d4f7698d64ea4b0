"""Results that people read: one line as `repr`, Markdown in notebooks."""

from __future__ import annotations


class Readable:
    """A result with a short `repr` instead of all its fields, and with Markdown, which notebooks show."""

    def summary(self) -> str:
        """The result in a few words, on one line."""
        raise NotImplementedError

    def to_markdown(self) -> str:
        """The result to read. Text of pages is quoted: it cannot become markup of what it is pasted into."""
        from webrag_core.showing.markdown import render_markdown

        return render_markdown(self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.summary()}>"

    def __str__(self) -> str:
        return repr(self)


def shortened(text: str, limit: int = 60) -> str:
    """`text` on one line of at most `limit` characters, in quotation marks."""
    line = " ".join(text.split())
    return repr(line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun; `plural` where that is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
