"""Totals of a corpus layer as metadata of its asset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.metadata import Metadata

if TYPE_CHECKING:
    from webrag_dagster.corpus.state import Layer


def layer_metadata(layer: Layer) -> Metadata:
    """Totals of one layer of a source."""
    return {name: dg.MetadataValue.int(total) for name, total in layer.totals.items()}
