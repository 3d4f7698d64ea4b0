"""What must hold for every walk, on any site, under any policy and limits: checked from outside the engine."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.acquisition.traps import MAX_PAGES_PER_PATTERN, url_pattern
from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason, WebragError
from webrag_core.orchestration.frontier import pages_tried
from webrag_core.orchestration.judged import decide
from webrag_core.orchestration.limits import TIMEOUT, bounded, limit_of
from webrag_core.orchestration.models import OrchestrationResult, Round
from webrag_core.orchestration.policies import get_policy
from webrag_core.orchestration.request import AnswerRequest


@dataclass(frozen=True, slots=True)
class Walked:
    """One walk as seen from outside: what was asked under which settings, what the site was asked for, how it ended."""

    request: AnswerRequest
    settings: Settings
    requested: Sequence[str]
    result: OrchestrationResult | None
    error: BaseException | None


async def violations(connection: AsyncConnection, walked: Walked) -> list[str]:
    """Every invariant that does not hold, in words; empty for a good walk."""
    violations = list(_without_result(walked))
    if walked.result is not None:
        for check in (_ends_once, _within_limits, _on_site, _each_once, _replays):
            violations += check(walked, walked.result)
        violations += await _as_stored(connection, walked, walked.result)
        violations += await _proved(connection, walked.result)
    cursor = await connection.execute("SELECT id FROM answer_runs WHERE state = 'running'")
    violations += [f"answer {row[0]} is left in the state running" for row in await cursor.fetchall()]
    return violations


def differences(first: OrchestrationResult, again: OrchestrationResult) -> list[str]:
    """Where two walks of one request differ that must not: everything but times and whether a page was fetched."""
    earlier, other = _facts(first), _facts(again)
    return [f"asked again, {name} differ" for name in earlier if earlier[name] != other[name]]


def _facts(result: OrchestrationResult) -> dict[str, list[object]]:
    return {
        "documents": [(each.url, each.round, each.link_depth, each.reason) for each in result.documents],
        "rounds": [done.model_dump(exclude={"elapsed_ms"}) for done in result.rounds],
        "citations": [citation.model_dump() for citation in result.citations],
        "chunks": [ranked.chunk.chunk_id for ranked in result.chunks],
    }


def _without_result(walked: Walked) -> Iterator[str]:
    error = walked.error
    if error is not None and not isinstance(error, WebragError):
        yield f"raised {type(error).__name__}: {error}"
    if isinstance(error, FetchError) and len(walked.requested) > len(walked.request.urls):
        yield "a walk without a seed asked for more than its seeds"
    elif isinstance(error, WebragError) and not isinstance(error, FetchError) and walked.requested:
        yield f"{type(error).__name__} after pages were asked for: {error}"


def _ends_once(walked: Walked, result: OrchestrationResult) -> Iterator[str]:
    actions = [done.decision.action for done in result.rounds]
    if actions.count("stop") != 1 or actions[-1] != "stop":
        yield f"decisions are {actions}"
    if result.final_decision != result.rounds[-1].decision or not result.final_decision.rule:
        yield "the final decision is not that of the last round"
    if [done.round for done in result.rounds] != list(range(len(result.rounds))):
        yield "rounds are not numbered in order"
    if [done.action_taken for done in result.rounds] != [None, *actions[:-1]]:
        yield "what was done is not what was decided"
    if not result.total_iterations == len(result.expansion_steps) == len(result.rounds) - 1:
        yield "rounds and expansion steps do not match"
    if result.final_decision.rule == TIMEOUT and not any("stopped early" in warning for warning in result.warnings):
        yield "a timeout without a warning"


def _budget(walked: Walked) -> int:
    """Expansion rounds allowed."""
    ceiling, budget = walked.settings.max_expansion_depth, walked.request.expansion_budget
    return ceiling if budget is None else min(budget, ceiling)


def _within_limits(walked: Walked, result: OrchestrationResult) -> Iterator[str]:
    settings, request = walked.settings, walked.request
    budget = _budget(walked)
    if result.total_iterations > budget:
        yield f"{result.total_iterations} expansion rounds, {budget} allowed"
    pages = pages_tried(result.documents)
    if pages > settings.webrag_max_pages:
        yield f"{pages} pages, {settings.webrag_max_pages} allowed"
    most = len(request.urls) + (result.total_iterations + 1) * settings.webrag_previews
    if len(walked.requested) > most:
        yield f"{len(walked.requested)} pages asked for, {most} allowed"
    for step, done in zip(result.expansion_steps, result.rounds, strict=False):
        tried = len(step.candidates_expanded)
        most = min(settings.max_candidates_per_iteration, done.decision.pages or settings.max_candidates_per_iteration)
        if tried > most:
            yield f"round {step.iteration} followed {tried} links, {most} allowed"
        followed = done.decision.action == "expand_breadth" and not done.previews
        if followed and done.candidates[0].score < settings.link_floor:
            yield f"round {step.iteration} followed a link below the floor"
    for pattern, count in Counter(url_pattern(url) for url in walked.requested).items():
        if pattern is not None and count > MAX_PAGES_PER_PATTERN:
            yield f"{count} pages like {pattern} asked for, {MAX_PAGES_PER_PATTERN} allowed"
    tokens = [ranked.chunk.token_count for ranked in result.chunks]
    if len(tokens) > 1 and sum(tokens) > settings.retrieval_context_budget:
        yield f"{sum(tokens)} tokens of evidence, {settings.retrieval_context_budget} allowed"


def off_site(request: AnswerRequest, result: OrchestrationResult) -> list[str]:
    """Pages taken in that lie on another site than the seeds, and than these redirect to: where a link on the site
    redirected to, or what a page there names as its own URL."""
    sites = _sites(request, result)
    taken = (document.url for document in result.documents if document.outcome in ("fetched", "reused"))
    return [url for url in taken if source_key(url) not in sites]


def _sites(request: AnswerRequest, result: OrchestrationResult) -> set[str]:
    seeds = [canonicalise(url) for url in request.urls]
    return {source_key(url) for url in [*seeds, *(d.url for d in result.documents if d.link_depth == 0)]}


def _on_site(walked: Walked, result: OrchestrationResult) -> Iterator[str]:
    """Links are followed on the sites of the seeds only, and evidence is of pages that were taken in."""
    sites = _sites(walked.request, result)
    for url in walked.requested:
        if source_key(url) not in sites:
            yield f"{url} was asked for, off the site"
    taken = {document.document_id for document in result.documents}
    for ranked in result.chunks:
        if ranked.chunk.document_id not in taken:
            yield f"evidence of {ranked.chunk.source_url}, which the walk did not take in"


def _each_once(walked: Walked, result: OrchestrationResult) -> Iterator[str]:
    documents = [document for document in result.documents if document.outcome != "duplicate"]
    several: dict[str, Iterable[object]] = {
        "document": [document.url for document in documents],
        "document id": [each.document_id for each in documents if each.document_id is not None],
        "request": walked.requested,
        "chunk": [ranked.chunk.chunk_id for ranked in result.chunks],
    }
    for what, values in several.items():
        for value, count in Counter(values).items():
            if count > 1:
                yield f"{what} {value}: {count} times"


def _replays(walked: Walked, result: OrchestrationResult) -> Iterator[str]:
    """Every decision again from the signals alone: policy, then limits."""
    policy = get_policy(walked.request.policy or walked.settings.webrag_policy, walked.settings)
    history = [done.signals for done in result.rounds]
    for number, done in enumerate(result.rounds):
        again = bounded(
            decide(policy, history[: number + 1]),
            done.signals,
            walked.settings,
            budget=_budget(walked),
            pages=pages_tried(document for document in result.documents if document.round <= number),
            out_of_time=limit_of(done.decision.reason) if done.decision.rule == TIMEOUT else None,
        )
        if again != done.decision:
            yield f"round {number} was decided {done.decision.rule}, replayed it is {again.rule}"


async def _as_stored(connection: AsyncConnection, walked: Walked, result: OrchestrationResult) -> list[str]:
    """What the database says of the run, its rounds and its ledger."""
    violations = []
    cursor = await connection.execute(
        "SELECT state, rule, action, probability, warnings FROM answer_runs WHERE id = %s", (result.answer_id,)
    )
    final = result.final_decision
    warnings = [warning.stored for warning in result.warnings]
    if await cursor.fetchone() != ("done", final.rule, "stop", final.probability_complete, warnings):
        violations.append("the stored run is not as the result says")
    cursor = await connection.execute(
        "SELECT round, signals, decision, chunks, candidates FROM answer_rounds WHERE answer_id = %s ORDER BY round",
        (result.answer_id,),
    )
    if await cursor.fetchall() != [_row(done) for done in result.rounds]:
        violations.append("the stored rounds are not those of the result")
    cursor = await connection.execute(
        "SELECT count(*) FROM fetch_log WHERE run_id = %s", (f"answer-{result.answer_id}",)
    )
    row = await cursor.fetchone()
    lines, requests = int(row[0]) if row else 0, len(walked.requested)
    # a request that the run's time limit cut off may have no line; each is a failure of the result
    cut_off = sum(document.reason == Reason.TIMEOUT for document in result.documents)
    if not requests - cut_off <= lines <= requests:
        violations.append(f"{requests} pages asked for, {cut_off} of them cut off, {lines} in the ledger")
    return violations


def _row(done: Round) -> tuple[object, ...]:
    content = done.model_dump(mode="json")
    return done.round, content["signals"], content["decision"], content["top_chunks"], content["candidates"]


async def _proved(connection: AsyncConnection, result: OrchestrationResult) -> list[str]:
    """Stored citations are those of the result, and each quote is what its version says at that span."""
    cursor = await connection.execute(
        "SELECT c.number, c.version_id, c.char_start, c.char_end, c.quote_sha256, v.markdown FROM citations c"
        " JOIN document_versions v ON v.id = c.version_id WHERE c.answer_id = %s ORDER BY c.number",
        (result.answer_id,),
    )
    stored, violations = {row[0]: row[1:] for row in await cursor.fetchall()}, []
    if [*stored] != [citation.number for citation in result.citations]:
        violations.append("the stored citations are not those of the result")
    for citation in result.citations:
        version, start, end, digest, text = stored.get(citation.number, (None, 0, 0, "", ""))
        quote = text[start:end]
        held = (version, start, end, quote) == (
            citation.version_id, citation.char_start, citation.char_end, citation.verbatim_text,
        )  # fmt: skip
        if not held or digest != hashlib.sha256(quote.encode()).hexdigest() or digest != citation.quote_sha256:
            violations.append(f"citation {citation.number} does not prove")
    return violations
