"""Put weights in force, and take them back. Both write one small file; a log beside it keeps what was in force when.

Only the gate (`evals.feedback`) decides whether weights may be released; this module decides nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webrag_core.config import Settings
from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.feedback.proposals import Proposal
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_file, weights_in_force

LOG = "releases.jsonl"
"""Beside the file of weights: one line for each release and withdrawal, oldest first."""


def put_in_force(settings: Settings, proposal: Proposal, *, by: str, verdict: dict[str, Any]) -> ScoreWeights:
    """Release the weights of a proposal; searches use them from now on. `verdict` is kept with it.

    Raises InvalidInputError as `check_releasable` does.
    """
    check_releasable(proposal, weights_in_force(settings))
    weights = ScoreWeights.of(proposal.weights)
    path = weights_file(settings)
    release = {
        "weights": weights.by_name(),
        "weights_digest": weights.digest,
        "proposal": proposal.digest,
        "released_at": datetime.now(UTC).isoformat(),
        "released_by": by,
        "replaces": _read(path),
    }
    _write(path, json.dumps(release, ensure_ascii=False, indent=1) + "\n")
    _note(path, {"event": "released", **{k: v for k, v in release.items() if k != "replaces"}, "verdict": verdict})
    return weights


def check_releasable(proposal: Proposal, current: ScoreWeights) -> None:
    """Raise InvalidInputError when a proposal was made for other weights than the current ones, or changes nothing."""
    base = ScoreWeights.of(proposal.base)
    if base != current:
        raise InvalidInputError(
            f"the proposal was made for other weights ({base.digest}) than those in force ({current.digest}): make"
            " another one"
        )
    if not proposal.changes:
        raise InvalidInputError("the proposal changes nothing")


def withdraw(settings: Settings, *, by: str) -> ScoreWeights:
    """Go back to what was in force before the last release, and return it: the weights that ship, in the end.

    A damaged file is taken away, too. Raises InvalidInputError when nothing was released.
    """
    path = weights_file(settings)
    if not path.exists():
        raise InvalidInputError("no weights are released: those that ship are in force")
    try:
        release = _read(path) or {}
        earlier = release.get("replaces")
    except IntegrityError:
        earlier = None
    if earlier is None:
        path.unlink()
    else:
        _write(path, json.dumps(earlier, ensure_ascii=False, indent=1) + "\n")
    weights = weights_in_force(settings)
    event = {"event": "withdrawn", "withdrawn_at": datetime.now(UTC).isoformat(), "withdrawn_by": by}
    _note(path, {**event, "in_force": weights.digest, "is_shipped": weights == SHIPPED})
    return weights


def _read(path: Path) -> dict[str, Any] | None:
    try:
        release = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise IntegrityError(f"{path} cannot be read: {error}") from None
    if not isinstance(release, dict):
        raise IntegrityError(f"{path} is no release")
    return release


def _write(path: Path, text: str) -> None:
    """Replace the file at once: a search reads the old or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(stream.name, path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None


def _note(path: Path, event: dict[str, Any]) -> None:
    with (path.parent / LOG).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(event, ensure_ascii=False) + "\n")
