"""Names of things are nouns of the field: a reader of one line knows what a name holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parents[1]
PACKAGES = ("webrag_core", "webrag_dagster", "evals", "benchmarks", "docs_tools")
REFUSED = frozenset({"one", "own", "said", "told", "asked", "found"})
"""Words that name nothing. `known`, `given`, `shown`, `stored` and the like are adjectives that stand for a set of the
things at hand; fields of models are left out, since JSON has their names."""
EXCEPTIONS: frozenset[tuple[str, str]] = frozenset()
"""(file, name) of those that stay, each for a reason."""


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that a module binds, with their lines: variables, parameters, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchAs(name=str(name)):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)):
                yield name, node.lineno


def fields(tree: ast.AST) -> set[int]:
    """Lines of fields of classes."""
    return {
        statement.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign | ast.Assign)
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_nouns(package: str) -> None:
    wrong = []
    for file in sorted((HERE / package).rglob("*.py")):
        place = file.relative_to(HERE).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        lines = fields(tree)
        bound = [(file.stem, 0), *((name, line) for name, line in names(tree) if line not in lines)]
        wrong += [
            f"{place}:{line} {name}"
            for name, line in bound
            if name.strip("_").lower() in REFUSED and (place, name) not in EXCEPTIONS
        ]
    assert wrong == []
