"""Code versions of the evaluation assets: the content of the files that decide, and of the questions asked of them.

Editing one of these files is what makes yesterday's scores out of date. Only small files that come with the package
are read; the frozen sites are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import evals
import webrag_core
from webrag_dagster.corpus import layers

_CORE = Path(webrag_core.__file__).parent
_EVALS = Path(evals.__file__).parent


def policy_files() -> list[Path]:
    """What decides after a round: the policies, the fitted model of one of them, signals, limits and verdict."""
    orchestration = _CORE / "orchestration"
    single = ("completeness.json", "signals.py", "limits.py", "verdict.py")
    return [*sorted((orchestration / "policies").glob("*.py")), *(orchestration / name for name in single)]


def evidence_files() -> list[Path]:
    """What makes the numbers of a round: how evidence is gathered, and the orders of links, previews and readings."""
    orchestration = ("evidence.py", "previews.py", "frontier.py", "link_scorers.py")
    return [*(_CORE / "orchestration" / name for name in orchestration), _CORE / "retrieval" / "reader.py"]


def ranking_files() -> list[Path]:
    """What ranks passages: search, the local reranker, its fitted scores and token weights, and how texts are cut into
    passages and words."""
    retrieval = sorted((_CORE / "retrieval").glob("*.py"))
    fitted = ("retrieval/relevance.json", "providers/token_weights.npy")
    return [*retrieval, *(_CORE / name for name in (*fitted, "indexing/passages.py", "indexing/terms.py"))]


def content_version(files: Iterable[Path], *besides: str) -> str:
    """Sixteen hexadecimal digits that change with the content (not the time or place) of any file, or with the texts
    in `besides`. Raises OSError for a file that is not there."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    for text in besides:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:16]


def sitewalk(golden: Path) -> str:
    """Of the walks over one file of golden queries."""
    files = [*policy_files(), *evidence_files(), golden]
    return content_version(files, layers.chunker_version(), layers.embedding_version())


def ragas() -> str:
    """Of Ragas' metrics. What they score is made anew by the walks."""
    return content_version([_EVALS / "judging" / "ragas_scores.py"])


def decisions() -> str:
    """Of the decision goldens."""
    return content_version([*policy_files(), _EVALS / "golden" / "decisions.jsonl"])


def retrieval() -> str:
    """Of the retrieval benchmark."""
    questions = _EVALS / "golden" / "retrieval" / "questions.jsonl.gz"
    return content_version([*ranking_files(), questions], layers.chunker_version(), layers.embedding_version())


def routes() -> str:
    """Of the router's rules and what it expects of agents."""
    routing = [*sorted((_CORE / "routing").glob("*.py")), _CORE / "routing" / "routes.json"]
    goldens = [_EVALS / "golden" / "routes.jsonl", _EVALS / "golden" / "routing" / "arms-reporting.jsonl.gz"]
    return content_version([*routing, *goldens])


def answers() -> str:
    """Of the answers in prose."""
    keys = [_EVALS / "golden" / "answer-suites.json", *sorted((_EVALS / "golden").glob("answers-*.jsonl"))]
    composing = sorted((_CORE / "answering").rglob("*.py")) + sorted((_CORE / "answering").rglob("*.json"))
    files = [*policy_files(), *evidence_files(), *ranking_files(), *composing, *keys]
    return content_version(files, layers.chunker_version(), layers.embedding_version())
