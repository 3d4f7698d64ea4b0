"""The templates of the pages: all text escaped, an undefined name is an error."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal
from webrag_core.corpus.source_pages import STATE_WORDS
from webrag_core.drawing import figure
from webrag_core.page_text import one_line, visible
from webrag_core.percentages import percent
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.showing.passage import passage_line
from webrag_core.showing.wording import sections, sentence_case, verdict
from webrag_core.web.login import LOGIN
from webrag_core.web.paths import ask_path, comparison_path, graph_path, history_path, source_path, stored_page_path
from webrag_core.web.phrases import ago, counted, language_text, reason_text

STATIC_FOLDER = Path(__file__).with_name("static")
DRAWING = ("webrag_core.drawing", figure.STATIC_FOLDER.name)
"""Package and folder of the style sheet of figures."""
_FUNCTIONS = (
    ago,
    ask_path,
    comparison_path,
    counted,
    fragment_url,
    graph_path,
    history_path,
    sections,
    source_path,
    stored_page_path,
    verdict,
)
"""What the templates may call, by these names."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"static": static_path, "states": STATE_WORDS}
    environment.globals |= {function.__name__: function for function in _FUNCTIONS}
    environment.filters |= {"reason": reason_text, "language": language_text, "percent": percent}
    environment.filters |= {"visible": visible, "one_line": one_line, "sentence_case": sentence_case}
    environment.filters["passage_line"] = passage_line
    return environment


@lru_cache(maxsize=32)
def static_path(name: str) -> str:
    """The path of a static file; it changes with the content, so that browsers may keep the file for good."""
    folder = figure.STATIC_FOLDER if name == figure.STYLE_SHEET else STATIC_FOLDER
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    return f"/static/{name}?{digest[:12]}"


def fragment(name: str, **values: Any) -> str:
    """Render a template that is a part of a page."""
    return _environment().get_template(f"{name}.html.j2").render(**values)


def page(request: Request, name: str, refusal: Refusal | None = None, **values: Any) -> Response:
    """Render a page. `values` are those of its template. With `refusal` the page says what was not done; only a browser
    gets it then, which asks for HTML, and a program the refusal itself."""
    if refusal is not None and not _asks_for_html(request):
        return refusal.response()
    text = fragment(
        name,
        here=request.url.path,
        is_member=request.url.path != LOGIN,
        reads_all=Reach.of(request.scope).is_everything,
        can_log_out=request.app.state.sessions is not None,
        **values,
    )
    return HTMLResponse(text) if refusal is None else HTMLResponse(text, refusal.status, refusal.all_headers)


def refused(request: Request, refusal: Refusal, title: str = "This did not work") -> Response:
    """The page of a refusal, or the refusal itself, see `page`."""
    return page(request, "problem", refusal, title=title, text=refusal.message)


def _asks_for_html(request: Request) -> bool:
    ranges = ",".join(request.headers.getlist("accept")).split(",")
    return any(accepted.partition(";")[0].strip().lower() == "text/html" for accepted in ranges)
