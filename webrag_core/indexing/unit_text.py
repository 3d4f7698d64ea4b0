"""The words of a unit of Markdown (`indexing.sentences`), without its marks, as a person reads them."""

from __future__ import annotations

import re

from webrag_core.indexing.markdown import faithful_text

LINE_MARKS = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)]|:|>|\|)[ \t]+|>)*", re.MULTILINE)
"""What stands before the words of a line: marks of headings, lists, definitions, quotations and table rows."""
FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*\n?", re.MULTILINE)
"""The line that begins or ends a block of code."""
IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*\)")


def unit_text(markdown: str, kind: str) -> str:
    """Plain text of a unit whose block is of `kind`: code with its line breaks, all else on one line."""
    if kind == "code":
        return FENCE.sub("", markdown).strip("\n").rstrip()
    return faithful_text(LINE_MARKS.sub("", IMAGE.sub("", markdown)))
