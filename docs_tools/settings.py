"""docs/reference/all-settings.md: every setting with its default, out of `Settings`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from webrag_core.config import Settings

HEAD = """# All settings

Every setting with its default. This page is written by `make pages` from the fields of `Settings`
(`webrag_core/config.py`). Where settings are read from, and which rules hold for keys, is in [settings](settings.md).
"""
_HEADING = re.compile(r"    # (?P<heading>[A-Z].*)$")
_FIELD = re.compile(r"    (?P<name>[a-z]\w*): ")


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for heading, names in _groups():
        rows = [_row(name, Settings.model_fields[name]) for name in names]
        parts.append("\n".join([f"## {heading}\n", "| setting | default | meaning |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _groups() -> Iterator[tuple[str, list[str]]]:
    """Headings of the class' body with the names of the fields below them. Raises ValueError where the source shows
    other fields than the class has."""
    groups: dict[str, list[str]] = {}
    heading = ""
    for line in inspect.getsource(Settings).splitlines():
        if match := _HEADING.match(line):
            heading = match["heading"]
        elif (match := _FIELD.match(line)) and match["name"] in Settings.model_fields:
            groups.setdefault(heading, []).append(match["name"])
    if sorted(name for names in groups.values() for name in names) != sorted(Settings.model_fields) or "" in groups:
        raise ValueError("every setting stands once, below a comment that names its group")
    yield from groups.items()


def _row(name: str, field: FieldInfo) -> str:
    meaning = (field.description or "").replace("|", "\\|")
    return f"| `{name.upper()}` | {_default(field)} | {meaning}{_limits(field)} |"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == "":
        return "unset"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`"


def _limits(field: FieldInfo) -> str:
    """The values that the setting takes, where they are few or bounded."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return f" ({', '.join(f'`{value}`' for value in get_args(annotation))})"
    if SecretStr in (annotation, *get_args(annotation)):
        return " (secret)"
    limits = []
    for limit in field.metadata:
        match limit:
            case Ge(ge=value):
                limits.append(f"≥ {value}")
            case Gt(gt=value):
                limits.append(f"> {value}")
            case Le(le=value):
                limits.append(f"≤ {value}")
    return f" ({', '.join(limits)})" if limits else ""
