"""What a docstring or a comment points to is there: files of the repository, and names of modules beside it."""

from __future__ import annotations

import re

from tests.conftest import REPOSITORY

_PACKAGES = ("webrag_core", "webrag_dagster", "evals", "docs_tools")
_FILE = re.compile(rf"`((?:tests|docs|benchmarks|{'|'.join(_PACKAGES)})/[\w./-]*)`")
_NAME = re.compile(r"`(\w+)\.([A-Za-z_]\w*)[\w.]*`")


def test_every_reference_leads_somewhere() -> None:
    texts = {path: path.read_text(encoding="utf-8") for name in _PACKAGES for path in (REPOSITORY / name).rglob("*.py")}
    dangling = []
    for path, text in texts.items():
        dangling += [(path.name, file) for file in _FILE.findall(text) if not (REPOSITORY / file).exists()]
        for module, name in _NAME.findall(text):
            beside = texts.get(path.with_name(f"{module}.py"))
            is_variable = re.search(rf"\b{module}(?:: | = |\.{name}\b(?!`))", text)
            if beside is not None and not is_variable and not re.search(rf"\b{name}\b", beside):
                dangling.append((path.name, f"{module}.{name}"))
    assert dangling == []
