"""Whatever the documentation shows of the library runs, on the frozen site that comes with the package."""

from __future__ import annotations

import ast
import json
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import webrag_core
from tests.conftest import REPOSITORY, fresh_database

pytestmark = pytest.mark.slow

DOCS = REPOSITORY / "docs"
EXAMPLES = DOCS / "examples"
NOTEBOOK = EXAMPLES / "first-steps.ipynb"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PUBLIC_MODULES = ("webrag_core.integrations.", "webrag_core.extending")


def snippets(file: Path) -> list[str]:
    return PYTHON.findall(file.read_text(encoding="utf-8"))


def shown() -> Iterator[tuple[str, str]]:
    """Code of README, documentation and examples, with its origin."""
    for file in (REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))):
        for number, snippet in enumerate(snippets(file), start=1):
            yield f"{file.relative_to(REPOSITORY)}, snippet {number}", snippet
    for file in sorted(EXAMPLES.glob("*.py")):
        yield file.name, file.read_text(encoding="utf-8")


def test_what_is_imported_from_the_library_is_public() -> None:
    public = set(webrag_core.__all__)
    imports = 0
    for origin, code in shown():
        for node in ast.walk(ast.parse(code)):
            names = {one.name for one in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
            if isinstance(node, ast.ImportFrom) and node.module == "webrag_core":
                imports += 1
                assert names <= public, f"{origin} imports what is not public: {names - public}"
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("webrag_core"):
                assert (node.module or "").startswith(PUBLIC_MODULES), f"{origin} imports {node.module}"
            assert not any(name.startswith("webrag_core.") for name in names), origin
    assert imports > 5


def test_the_page_of_the_library_names_what_is_public() -> None:
    text = (DOCS / "library.md").read_text(encoding="utf-8")
    missing = [name for name in webrag_core.__all__ if f"`{name}" not in text and f" {name}" not in text]
    assert missing == []


@pytest.fixture(scope="module")
def shared_url(server_url: str) -> Iterator[str]:
    """All of them share a corpus."""
    with fresh_database(server_url) as url:
        yield url


@pytest.fixture
def _demo(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read but the page that answers: to follow links takes most of the time."""
    monkeypatch.setenv("DATABASE_URL", shared_url)
    monkeypatch.setenv("MAX_EXPANSION_DEPTH", "0")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(import_module("demo_site"), "START", "https://docs.python.org/3.11/library/math.html")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("ask", r"(answered|partial), confidence \d\d%\n- .*\n  \[1\] https://.*, version 1, characters \d+-\d+"),
        ("stream_events", r"phase: fetching.*\npage: .*(.|\n)*sentence: .*(.|\n)*done: (answered|partial)"),
        ("search_filters", r"library/random\.html (fetched|reused)\n(.|\n)*\d\.\d\d .*random\.randint"),
        ("quotes_still_valid", r"\[1\] valid: .*\n(.|\n)*version 1: seen from"),
        ("langchain_retriever", r"0\.\d\d https://docs\.python\.org/3\.11/library/math\.html \d+-\d+ [0-9a-f]{12}"),
        ("first_steps", r"(answered|partial) \d\d%(.|\n)*planned\n(.|\n)*done\n\['valid'"),
    ],
)
@pytest.mark.usefixtures("_demo")
def test_the_examples_run(name: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert re.search(printed, capsys.readouterr().out)


@pytest.mark.usefixtures("_demo")
def test_the_snippets_of_the_library_page_run() -> None:
    """One after the other, as a reader who types them; that of LlamaIndex, whose import takes 3 s, beside its tests."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, snippet in enumerate(snippets(DOCS / "library.md"), start=1):
        if "llamaindex" in snippet:
            continue
        exec(compile(snippet, f"library.md, snippet {number}", "exec"), names)
    assert names["answer"].citations
    assert names["rows"].citations


def test_the_notebook_is_that_of_its_script() -> None:
    cells = re.split(r"^# %%(.*)\n", (EXAMPLES / "first_steps.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    code = [cell.strip() for kind, cell in zip(cells[1::2], cells[2::2], strict=True) if "markdown" not in kind]
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    stored = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]) for cell in stored] == code, "make notebook makes it anew"
    assert sum(bool(cell["outputs"]) for cell in stored) >= 5
    assert "text/markdown" in {kind for cell in stored for one in cell["outputs"] for kind in one.get("data", {})}
