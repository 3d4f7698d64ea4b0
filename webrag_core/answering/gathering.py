"""Evidence for a question: what the tasks of its plans brought, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from webrag_core.judging.verdict import Verdict
from webrag_core.orchestration.models import OrchestrationResult, QueryType
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.merging import keep_best
from webrag_core.retrieval.models import RankedChunk, Spelling, respelled
from webrag_core.retrieval.patterns import rank_fusion
from webrag_core.routing.execute import Execution
from webrag_core.routing.results import Finding, Outcome, Output, TaskReport, WalkStep, report_of

_WORST: Sequence[Outcome] = ("complete", "degraded", "partial", "failed")


@dataclass(slots=True)
class Gathered:
    """Evidence, best first, with what is known of it. `complete` is the probability in [0, 1] that it is complete,
    `note` how far that can be trusted. `findings` are passages that agents name as answers of their own, `tasks` what
    became of each task, `spellings` the words of the question that were searched for in other letters, `verdict` what a
    judge said of the last walk's evidence."""

    ranked: list[RankedChunk] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    kind: QueryType = "factual"
    complete: float = 0.0
    note: str = ""
    look_next: list[str] = field(default_factory=list)
    pages: int = 0
    walk: list[WalkStep] = field(default_factory=list)
    warnings: list[Caution] = field(default_factory=list)
    evidence_ids: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    tasks: list[TaskReport] = field(default_factory=list)
    outcome: Outcome = "complete"
    spellings: list[Spelling] = field(default_factory=list)
    verdict: Verdict | None = None

    def meant(self, text: str) -> str:
        """A question, or a part of it, with the words that the evidence was found for."""
        return respelled(text, self.spellings)

    def add(self, execution: Execution, iteration: int = 1) -> None:
        """Take in what the tasks of a plan brought. What the plan before it lost stays lost."""
        outputs = [result.output for result in execution.results if result.status == "success"]
        self.verdict = None  # of other evidence
        if iteration == 1:
            self.parts = list(execution.plan.parts)
            self.kind = execution.plan.kind
        self._rank([output.evidence for output in outputs], by_rank=execution.plan.merge == "rrf")
        self.outcome = max(self.outcome, execution.outcome, key=_WORST.index) if iteration > 1 else execution.outcome
        for result in execution.results:
            self._note(result.output)
            self._warn(result.output.warnings)
        self._warn([Caution(warning) for warning in (*execution.plan.warnings, *execution.warnings)])
        # a page that was read meanwhile may have the word as it was typed
        texts = [passage.chunk.text.casefold() for passage in self.ranked]
        self.spellings = [
            spelling for spelling in self.spellings if not any(spelling.typed.casefold() in text for text in texts)
        ]
        pairs = zip(execution.plan.tasks, execution.results, strict=True)
        self.tasks += [report_of(task, result, iteration) for task, result in pairs]

    def _rank(self, lists: Sequence[Sequence[RankedChunk]], *, by_rank: bool) -> None:
        """Put ranked lists together, what several hold once, by its better score (or by its ranks in all of them)."""
        lists = [item for item in (self.ranked, *lists) if item]
        if len(lists) < 2:
            self.ranked = list(lists[0]) if lists else []
            return
        best: dict[int, RankedChunk] = {}
        for ranked in lists:
            for passage in ranked:
                keep_best(best, passage)
        fused = rank_fusion([[passage.chunk.chunk_id for passage in ranked] for ranked in lists]) if by_rank else {}
        self.ranked = sorted(best.values(), key=lambda item: -fused.get(item.chunk.chunk_id, item.reranked_score))

    def _note(self, output: Output) -> None:
        """What is known of the whole, from one more output. The first walk has judged the evidence; what comes after
        it, and searches, have not."""
        if output.steps:
            if not self.walk:
                self.complete, self.note = output.complete, output.note
                self.parts, self.kind = output.parts, output.kind or self.kind
            self.walk += [
                step.model_copy(update={"round": len(self.walk) + at}) for at, step in enumerate(output.steps)
            ]
            self.look_next = output.look_next
            self.verdict = output.verdict
        elif not self.walk:
            self.complete = max(self.complete, output.top_score)
            # why there is nothing counts only while there is nothing
            self.note = output.note if output.evidence or not self.note else self.note
        typed = {spelling.typed for spelling in self.spellings}
        self.spellings += [spelling for spelling in output.spellings if spelling.typed not in typed]
        self.pages += output.pages
        self.evidence_ids += output.run_ids
        quotes = {finding.as_quote() for finding in self.findings}
        self.findings += [finding for finding in output.findings if finding.as_quote() not in quotes]

    def _warn(self, warnings: Sequence[Caution]) -> None:
        self.warnings += [warning for warning in dict.fromkeys(warnings) if warning not in self.warnings]


def gathered_of(result: OrchestrationResult) -> Gathered:
    """The evidence of a finished run of the loop alone."""
    output = Output.of_run(result)
    gathered = Gathered(ranked=output.evidence)
    gathered._note(output)
    gathered._warn(output.warnings)
    return gathered
