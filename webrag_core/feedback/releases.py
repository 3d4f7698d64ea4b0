"""Put weights in force, and take them back. Both write one small file; a log beside it keeps what was in force when.

Only the gate (`evals.feedback`) decides whether weights may be released; this module decides nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.retrieval.weights import NAMES, SHIPPED, ScoreWeights, weights_file, weights_in_force

LOG = "releases.jsonl"
"""Beside the file of weights: one line for each release and withdrawal, oldest first."""


def read_weights(path: Path) -> ScoreWeights:
    """The weights of a file, JSON with the six of them under `weights`: by hand, or a file in force. Raises
    InvalidInputError for a file that is none."""
    try:
        weights = json.loads(path.read_text(encoding="utf-8"))["weights"]
        return ScoreWeights.of({str(name): float(value) for name, value in weights.items()})
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInputError(f'{path} holds no weights: {{"weights": {{{", ".join(NAMES)}: …}}}}') from None


def put_in_force(settings: RetrievalSettings, weights: ScoreWeights, *, by: str, verdict: dict[str, Any]) -> None:
    """Release weights; searches use them from now on. `verdict` is kept with them.

    Raises InvalidInputError when they are in force already.
    """
    check_releasable(weights, weights_in_force(settings))
    path = weights_file(settings)
    release = {
        "weights": weights.by_name(),
        "weights_digest": weights.digest,
        "released_at": datetime.now(UTC).isoformat(),
        "released_by": by,
        "replaces": _read(path),
    }
    noted = {**{k: v for k, v in release.items() if k != "replaces"}, "verdict": verdict}
    with _replacing(path, json.dumps(release, ensure_ascii=False, indent=1) + "\n"):
        _note(path, {"event": "released", **noted})


def check_releasable(weights: ScoreWeights, current: ScoreWeights) -> None:
    """Raise InvalidInputError when a release would change nothing."""
    if weights == current:
        raise InvalidInputError("these weights are in force already")


def withdraw(settings: RetrievalSettings, *, by: str) -> ScoreWeights:
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
        with _replacing(path, json.dumps(earlier, ensure_ascii=False, indent=1) + "\n"):
            pass
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


@contextmanager
def _replacing(path: Path, text: str) -> Iterator[None]:
    """Replace the file at once, after the block: a search reads the old or the new one. Where the text has no room, or
    the block fails, the old one stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False)  # noqa: SIM115
        try:
            with stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            yield
            os.replace(stream.name, path)
        finally:
            Path(stream.name).unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None


def _note(path: Path, event: dict[str, Any]) -> None:
    log = path.parent / LOG
    try:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(event, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InvalidInputError(f"{log} cannot be written: {error.strerror}") from None
