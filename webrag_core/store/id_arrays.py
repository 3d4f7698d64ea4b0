"""Ids as parameters of statements."""

from __future__ import annotations

from collections.abc import Iterable


def id_array(ids: Iterable[int]) -> str:
    """An array of ids as the server reads it. It has the type of what it is compared with; that of a list of integers
    depends on the largest, and so does the statement."""
    return f"{{{','.join(map(str, ids))}}}"
