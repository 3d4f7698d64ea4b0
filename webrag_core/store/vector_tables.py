"""Names of the vector tables: one per embedding model."""

from __future__ import annotations

from psycopg import sql


def vector_table(model_id: int) -> sql.Identifier:
    """Name of the model's own vector table."""
    return sql.Identifier(f"vectors_{int(model_id)}")
