"""docs/reference/all-settings.md: every setting with its default, out of `Settings`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from webrag_core.config import Settings
from webrag_core.config.group import SettingsGroup

HEAD = """# All settings

Every setting with its default. This page is written by `make pages` from the fields of `Settings`
(`webrag_core/config`). Where settings are read from, and which rules hold for keys, is in [settings](settings.md).
"""


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for heading, names in dict(_groups()).items():
        rows = [_row(name, Settings.model_fields[name]) for name in names]
        parts.append("\n".join([f"## {heading}\n", "| setting | default | meaning |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _groups(of: type[BaseModel] = Settings) -> Iterator[tuple[str, list[str]]]:
    """Headings, the first lines of the groups' docstrings, with the names of the fields that each group adds; what a
    group is made of comes before it. A group that several are made of comes each time."""
    for group in reversed(of.__bases__):
        if issubclass(group, SettingsGroup):
            yield from _groups(group)
    if names := [name for name in of.__annotations__ if name in of.model_fields]:
        yield (of.__doc__ or "").partition("\n")[0].removesuffix("."), names


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
