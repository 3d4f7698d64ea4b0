"""Rows of a table that a process holds, and which of them lie in a scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.retrieval.scope import Scope

Ids = NDArray[np.signedinteger]


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of a table with their chunk ids (ascending), and the ids of their documents, their sources, kinds and
    months."""

    chunks: Ids
    documents: Ids
    sources: Ids
    kinds: Ids
    months: Ids

    @classmethod
    def of(cls, rows: NDArray[np.void]) -> Held:
        """Take the fields `chunk`, `document`, `source`, `kind` and `months`."""
        others = (rows[name].astype(np.int32) for name in ("document", "source", "kind", "months"))
        return cls(rows["chunk"].astype(np.int64), *others)

    def inside(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Which rows lie in a scope; None = all."""
        inside = None
        if scope.month_ids is not None:
            inside = _among(self.months, scope.month_ids) | _among(self.documents, scope.end_ids)
        for held, ids in (
            (self.documents, scope.document_ids),
            (self.sources, scope.source_ids),
            (self.kinds, scope.kind_ids),
        ):
            if ids is not None:
                among = _among(held, ids)
                inside = among if inside is None else inside & among
        return inside

    @classmethod
    def joined(cls, parts: Sequence[Held]) -> Held:
        """The rows of these parts, one part behind the other."""
        columns = ((part.chunks, part.documents, part.sources, part.kinds, part.months) for part in parts)
        return cls(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _among(held: Ids, ids: Sequence[int]) -> NDArray[np.bool_]:
    return np.isin(held, np.array(ids, dtype=np.int32))
