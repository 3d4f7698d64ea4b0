"""A comparison of two versions as one HTML file that needs no network: side by side, moved blocks joined."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Template

from webrag_core.history.compare import PageComparison
from webrag_core.history.diff_rows import diff_runs
from webrag_core.html_template import load_template
from webrag_core.page_text import one_line


def render_page(comparison: PageComparison) -> str:
    """The HTML file. All text of pages is escaped; control signs are left out."""
    counts = comparison.diff.counts()
    return _template().render(
        comparison=comparison,
        title=one_line(comparison.after.title or comparison.url),
        counts={kind: counts.get(kind, 0) for kind in ("edited", "added", "removed", "moved", "same")},
        facts=comparison.diff.facts_changed,
        runs=diff_runs(comparison),
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    file = Path(__file__).with_name("diff_page.html.j2")
    return load_template(file)
