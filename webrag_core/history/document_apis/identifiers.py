"""Identifiers of documents. Light to import: the words of every question are asked for them."""

from __future__ import annotations

from webrag_core.plugins import DOCUMENTS


def named_source(identifier: str) -> tuple[str, str] | None:
    """(name of the source, what it is asked for) of an identifier for a plugin of another package, as `wiki:Q42`; None
    for others. Raises PluginError where two packages have the name."""
    name, colon, rest = identifier.partition(":")
    if not colon or not rest or name not in DOCUMENTS or DOCUMENTS.find(name).is_ours:
        return None
    return name, rest
