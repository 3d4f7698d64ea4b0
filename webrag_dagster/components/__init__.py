"""Component types: what a YAML file under `defs/` can be."""

from webrag_dagster.components.source import CuratedSource

__all__ = ["CuratedSource"]
