"""Where evaluations keep databases of their own: one for each content and embedding model."""

from __future__ import annotations

import hashlib
from dataclasses import astuple
from pathlib import Path

from webrag_core.config import Settings
from webrag_core.providers.embedder import ModelIdentity, identity_of

_UNNAMED = ModelIdentity("wordllama", "l2_supercat_256@0.4.0", 256, "l2")
"""The model whose homes bear no model in their name: such homes were there before any did. It stays this one."""


def own_home(settings: Settings, kind: str, content: str) -> Path:
    """`WEBRAG_HOME/<kind>-<content>`, for any other model than the offline one with twelve digits of it at the end: a
    database holds the vectors of one model, so another model's evaluation needs another. Nothing is created."""
    name = f"{kind}-{content}"
    model = identity_of(settings)
    if model != _UNNAMED:
        values = "\0".join(str(field) for field in astuple(model))
        name += f"-{hashlib.sha256(values.encode()).hexdigest()[:12]}"
    return settings.webrag_home / name
