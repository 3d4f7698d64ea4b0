"""Recorded runs: the lines of a run log (or the rounds of a stored answer) as typed values, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from evals.jsonl import load_jsonl
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.orchestration.answers import StoredRun
from webrag_core.orchestration.models import Action, EvaluationSignals


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """One decision as it was taken. `pages` are those that counted towards the limit by then; `evidence` holds (index
    of the passage, score), best first. None: recorded by an older version, or in the database, without it."""

    signals: EvaluationSignals
    action: Action
    rule: str
    reason: str
    probability: float | None
    pages: int | None
    evidence: tuple[tuple[int, float], ...] | None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One item's run. `settings` are the recorded ones, empty when unknown; `record` is the whole run-log line, empty
    for an answer of the database."""

    id: str
    policy: str
    settings: Mapping[str, int | float | str]
    rounds: tuple[RecordedRound, ...]
    record: Mapping[str, Any]

    @property
    def budget(self) -> int:
        """Expansion rounds that the run was allowed."""
        return self.rounds[0].signals.expansion_rounds_left if self.rounds else 0

    def settings_of(self, base: Settings, changes: Mapping[str, object] | None = None) -> Settings:
        """`base` with what was recorded, then with `changes`."""
        known = {name: value for name, value in self.settings.items() if name in Settings.model_fields}
        return base.model_copy(update={**known, **(changes or {})})


def _checked(url: str) -> str:
    try:
        canonicalise(url)
    except FetchError as error:
        raise ValueError(error.message) from error
    return url


PageUrl = Annotated[str, AfterValidator(_checked)]
"""The address of a page that could be fetched, as it is written."""


class _Round(BaseModel):
    model_config = ConfigDict(extra="ignore")

    signals: dict[str, Any]
    decision: Action
    rule: str
    reason: str
    probability_complete: float | None = None
    pages: int | None = None
    evidence: list[tuple[int, float]] | None = None


class _Page(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: PageUrl
    round: int = 0


class _Passage(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: PageUrl
    text: str


class _Line(BaseModel):
    """What an evaluation reads of a run-log line; the rest is kept as it is."""

    model_config = ConfigDict(extra="allow")

    id: str
    system: str = ""
    fetched: list[_Page]
    stop: str
    claimed_found: bool | None
    confidence: float | None = None
    evidence: list[_Passage]
    dropped: list[_Passage] = []
    rounds: list[_Round] = []
    settings: dict[str, int | float | str] = {}


def load_run_log(path: Path) -> list[RecordedRun]:
    """Read a run log. Raises InvalidInputError naming the first line that is none or repeats an id."""
    return load_jsonl(
        path, lambda record: _run_of(_Line.model_validate(record), record), "a line of a run log", lambda run: run.id
    )


def signals_of(recorded: Mapping[str, Any]) -> EvaluationSignals:
    """Signals as today's policies read them. Fields that are gone since are left out; raises InvalidInputError for
    those that the recording lacks."""
    known = {name: value for name, value in recorded.items() if name in EvaluationSignals.model_fields}
    try:
        return EvaluationSignals.model_validate(known)
    except ValidationError as error:
        names = ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors()}))
        raise InvalidInputError(
            f"signals that today's policies need are not recorded: {names} (record again)"
        ) from error


def _run_of(line: _Line, record: Mapping[str, Any]) -> RecordedRun:
    passages = len(line.evidence) + len(line.dropped)
    for done in line.rounds:
        if any(not 0 <= index < passages for index, _ in done.evidence or ()):
            raise InvalidInputError("a round names a passage that the line does not hold")
    return RecordedRun(
        id=line.id,
        policy=line.system.partition("/")[2] or line.system,
        settings=line.settings,
        rounds=tuple(_round_of(done, number) for number, done in enumerate(line.rounds)),
        record=record,
    )


def _round_of(done: _Round, number: int) -> RecordedRound:
    signals = signals_of(done.signals)
    if signals.round != number:
        raise InvalidInputError(f"round {number} is recorded as round {signals.round}")
    return RecordedRound(
        signals=signals,
        action=done.decision,
        rule=done.rule,
        reason=done.reason,
        probability=done.probability_complete,
        pages=done.pages,
        evidence=None if done.evidence is None else tuple(done.evidence),
    )


def run_of_answer(stored: StoredRun) -> RecordedRun:
    """An answer of the database as a recorded run: without settings, pages and evidence, which are not kept there."""
    rounds = []
    for done in stored.rounds:
        decision = done.decision
        rounds.append(
            RecordedRound(
                signals=signals_of(done.signals),
                action=decision.action,
                rule=decision.rule,
                reason=decision.reason,
                probability=decision.probability_complete,
                pages=None,
                evidence=None,
            )
        )
    return RecordedRun(f"answer {stored.answer_id}", stored.policy, {}, tuple(rounds), {})
