"""How `make docs` builds the site out of the Markdown in this folder.

The pages are plain Markdown that a code host shows as well. So what only the site needs is added here, when a page is
read: the table of contents, and the Python interface out of the docstrings.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import webrag_core

project = "WebRAG"
copyright = "the WebRAG authors, MIT licence"
version = release = webrag_core.__version__
html_title = f"WebRAG {version}"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# what the theme would otherwise link to
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}

myst_heading_anchors = 4  # the anchors that a code host makes, so that one link works in both places
myst_links_external_new_tab = False
suppress_warnings: list[str] = []  # nothing: `make docs` fails on every warning

smartquotes = False  # it would make a dash of the two that begin an option
default_role = "code"  # docstrings put names into single backticks
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
python_display_short_literal_types = True
python_maximum_signature_line_length = 100

_LOADED_FROM_ELSEWHERE = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=["'](?:https?:)?//[^>]*>"""
)

CONTENTS = {
    "Start": ["tour", "install", "tutorial", "alternatives", "glossary"],
    "How to": [
        *("how-to/own-site", "how-to/keep-fresh", "how-to/command-line", "library", "plugins", "web", "mcp"),
        *("operators-guide", "how-to/texts-in-force", "how-to/own-models", "how-to/feedback", "how-to/*", "examples/*"),
    ],
    "Reference": [
        *("reference", "reference/commands", "reference/settings", "reference/all-settings"),
        *("reference/python", "web-api", "reference/views", "reference/*"),
    ],
    "Explanation": ["explanation/*"],
    "Evidence": ["evaluation", "benchmarks", "security"],
    "Project": ["changelog", "contributing"],
}
"""Captions of the menu with their pages, in order; the other pages of a folder follow where its star stands."""


def _contents(folder: Path) -> str:
    """The hidden table of contents; pages that are not there (yet) are left out, pages that no entry names are not:
    Sphinx warns of them."""
    blocks = []
    for caption, entries in CONTENTS.items():
        files = dict.fromkeys(file for entry in entries for file in sorted(folder.glob(f"{entry}.md")))
        pages = [file.relative_to(folder).with_suffix("").as_posix() for file in files]
        blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n".join(blocks)


def _interface() -> str:
    """Directives that document every public name of the library."""
    lines = []
    for name in sorted(set(webrag_core.__all__) - {"__version__"}, key=str.lower):
        value = getattr(webrag_core, name)
        kind, options = "autofunction" if callable(value) else "autodata", []
        if isinstance(value, type):
            kind, options = "autoclass", ["   :show-inheritance:"]
        if isinstance(value, type) and value is not webrag_core.Settings:  # they have a page of their own
            options += ["   :members:", "   :exclude-members: model_config"]
            options += ["   :undoc-members:"] * issubclass(value, BaseModel)
        lines += [f".. {kind}:: webrag_core.{name}", *options, ""]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _add_what_the_site_needs(app: Sphinx, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] += "\n\n" + _contents(Path(app.srcdir))
    elif page == "reference/python":
        source[0] += "\n\n" + _interface()


def _without_fields(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Fields of models stand below their class, each with its type: not in its signature too."""
    is_model = isinstance(value, type) and issubclass(value, BaseModel)
    return ("", "") if is_model else (signature, returns)


def _refuse_what_loads_from_elsewhere(app: Sphinx, error: Exception | None) -> None:
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        for tag in _LOADED_FROM_ELSEWHERE.findall(page.read_text()):
            raise ExtensionError(f"{page} loads something from another place: {tag}")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_what_the_site_needs)
    app.connect("autodoc-process-signature", _without_fields)
    app.connect("build-finished", _refuse_what_loads_from_elsewhere)
