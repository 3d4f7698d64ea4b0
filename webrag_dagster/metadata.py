"""Core objects as Dagster metadata: Markdown, tables, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.markdown import block, code, link, prose, rows_markdown
from webrag_dagster.pictures import score_image
from webrag_dagster.running import ORIGIN

if TYPE_CHECKING:
    from webrag_core.orchestration.models import OrchestrationResult, Round
    from webrag_core.providers.prices import ProviderSpending

Metadata = dict[str, dg.MetadataValue]
Cell = str | int | float | bool | None

MAX_ROWS = 100
MAX_QUOTES = 8
_TITLE_CHARS = 40


def round_metadata(question: str, rounds: Sequence[Round]) -> Metadata:
    """The last of `rounds`: decision, rule, reason, signals; then all rounds so far.

    Numbers are in tables: the UI would plot them as one line through the rounds of all questions.
    """
    done = rounds[-1]
    signals, decision = done.signals, done.decision
    numbers: dict[str, float] = {
        "probability_complete": decision.probability_complete,
        "top_score": signals.top_score,
        "mean_score": signals.score_mean,
        "score_cliff": signals.score_cliff,
        "redundancy": signals.redundancy_ratio,
        "token_fill": signals.token_fill_ratio,
        "chunks": signals.n_chunks,
        "documents": done.documents_total,
        "candidates_left": signals.candidates_left,
        "milliseconds": done.elapsed_ms,
    }
    return {
        "question": dg.MetadataValue.text(question),
        "round": dg.MetadataValue.text(str(done.round)),
        "action_taken": dg.MetadataValue.text(done.action_taken or "seed"),
        "decision": dg.MetadataValue.text(decision.action),
        "rule": dg.MetadataValue.text(decision.rule),
        "reason": dg.MetadataValue.text(decision.reason),
        "scores_so_far": dg.MetadataValue.md(score_image(rounds)),
        "rounds_so_far": trace_table(rounds),
        "signals": table({"signal": name, "value": round(float(value), 4)} for name, value in numbers.items()),
        "best_chunks": table(
            {"score": round(ref.score, 3), "url": ref.url, "heading": ref.heading} for ref in done.top_chunks[:10]
        ),
        "best_links": table(
            {"score": round(c.score, 3), "url": c.url, "anchor": c.anchor_text, "depth": c.link_depth}
            for c in done.candidates[:10]
        ),
    }


def answer_metadata(result: OrchestrationResult, *, pages_from: str) -> Metadata:
    """The finished answer: to be read first, then its trace, then numbers."""
    outcomes = Counter(document.outcome for document in result.documents)
    return {
        "verdict": dg.MetadataValue.text(result.verdict_line()),
        "question": dg.MetadataValue.text(result.query),
        "answer": dg.MetadataValue.md(answer_markdown(result)),
        "scores_per_round": dg.MetadataValue.md(score_image(result.rounds)),
        "url": dg.MetadataValue.url(result.url),
        "rule": dg.MetadataValue.text(result.final_decision.rule),
        "reason": dg.MetadataValue.text(result.final_decision.reason),
        "confidence": dg.MetadataValue.float(result.confidence),
        "probability_complete": dg.MetadataValue.float(round(result.probability_complete, 4)),
        "quotes": dg.MetadataValue.int(len(result.citations)),
        "top_score": dg.MetadataValue.float(round(result.rounds[-1].signals.top_score, 4)),
        "rounds": dg.MetadataValue.int(len(result.rounds)),
        "expansions": dg.MetadataValue.int(result.total_iterations),
        "pages_fetched": dg.MetadataValue.int(outcomes["fetched"]),
        "pages_reused": dg.MetadataValue.int(outcomes["reused"]),
        "pages_failed": dg.MetadataValue.int(outcomes["failed"]),
        "warnings": dg.MetadataValue.int(len(result.warnings)),
        "seconds": dg.MetadataValue.float(round(result.timing.total_ms / 1000, 3)),
        "policy": dg.MetadataValue.text(result.policy),
        **spending_metadata(result.spent),
        "asked_by": dg.MetadataValue.text(ORIGIN),
        "pages_from": dg.MetadataValue.text(pages_from),
        **({"answer_id": dg.MetadataValue.int(result.answer_id)} if result.answer_id is not None else {}),
        "trace": trace_table(result.rounds),
    }


def spending_metadata(spent: Sequence[ProviderSpending]) -> Metadata:
    """What was asked of endpoints that may charge for it, and `cost`, that of what has a price, where anything has; in
    words what has none. What is computed here, and pages that are fetched without a service, are not among it."""
    from webrag_core.providers.prices import total_cost

    if not spent:
        return {"cost_note": dg.MetadataValue.text("nothing was asked of an endpoint that may charge for it")}
    rows = table({**spending.model_dump(exclude={"currency", "cost"}), "cost": _cost(spending)} for spending in spent)
    priced = [spending for spending in spent if spending.cost is not None]
    unpriced = ", ".join(spending.provider for spending in spent if spending.cost is None)
    notes = [f"no price is set for {unpriced} (PRICES_FILE)"] if unpriced else []
    if any(spending.untold for spending in priced):
        notes.append("tokens of some requests were not told: it is at least this")
    return {
        "asked_of_endpoints": rows,
        **({"cost": dg.MetadataValue.float(round(total_cost(spent), 6))} if priced else {}),
        "cost_note": dg.MetadataValue.text("; ".join(notes) or "of all that was asked of endpoints"),
    }


def _cost(spending: ProviderSpending) -> str:
    return "no price set" if spending.cost is None else f"{spending.cost:.4g} {spending.currency}".rstrip()


def trace_table(rounds: Sequence[Round]) -> dg.TableMetadataValue:
    """One row per round."""
    return table(_trace(done) for done in rounds)


def _trace(done: Round) -> dict[str, Cell]:
    return {
        "round": done.round,
        "action taken": done.action_taken or "seed",
        "chunks": done.signals.n_chunks,
        "top relevance": round(done.signals.top_score, 3),
        "mean score": round(done.signals.score_mean, 3),
        "documents": done.documents_total,
        "decision": done.decision.action,
        "rule": done.decision.rule,
        "reason": done.decision.reason,
        "ms": round(done.elapsed_ms),
    }


def answer_markdown(result: OrchestrationResult) -> str:
    """Question, verbatim quotes with their sources but for those of low relevance, why the search stopped, pages,
    warnings."""
    from webrag_core.showing.elements import Section
    from webrag_core.showing.evidence import quotations
    from webrag_core.showing.markdown import write_markdown

    decision = result.final_decision
    lines = [f"**{result.verdict_line()}**", "", "### Question", "", prose(result.query), ""]
    lines += ["### Evidence" if result.status == "answered" else "### The nearest passages", ""]
    if not result.citations:
        lines += ["*No evidence was found.*", ""]
    shown = [quotation for quotation in quotations(result) if not quotation.weak][:MAX_QUOTES]
    lines += [write_markdown([Section("quotes", "", tuple(shown))], code_block=block)]
    if len(result.citations) > len(shown):
        lines += [f"*{len(result.citations) - len(shown)} more quotes are kept with answer {result.answer_id}.*", ""]
    lines += [
        "### Why it stopped",
        "",
        f"- rule {code(decision.rule)} of policy {code(result.policy)}, after {_count(len(result.rounds), 'round')}"
        f" and {_count(result.total_iterations, 'expansion')}",
        f"- {code(decision.reason)}",
        f"- probability that the evidence is complete: {result.probability_complete:.2f} ({result.probability_note})",
        "",
        *rows_markdown([_trace(done) for done in result.rounds]),
        "",
        score_image(result.rounds),
        "",
        "### Pages",
        "",
    ]
    for document in result.documents:
        reason = f", {code(document.reason)}" if document.reason else ""
        role = "preview, " if document.preview else ""
        lines.append(
            f"- {link(document.url, document.url)} · {role}{document.outcome}{reason},"
            f" round {document.round}, link depth {document.link_depth}"
        )
    if result.status != "answered" and result.look_next:
        lines += ["", "### Where to look next", "", *(f"- {link(url, url)}" for url in result.look_next)]
    if result.warnings:
        lines += ["", "### Warnings", "", *(f"- {code(warning)}" for warning in result.warnings)]
    return "\n".join(lines)


def table(rows: Iterable[Mapping[str, Cell]]) -> dg.TableMetadataValue:
    """The first rows as a table; the UI shows cells as plain text."""
    records = [dg.TableRecord(dict(row)) for row, _ in zip(rows, range(MAX_ROWS), strict=False)]
    if not records:
        return dg.MetadataValue.table(records, schema=dg.TableSchema([dg.TableColumn("nothing")]))
    kinds = {bool: "bool", int: "int", float: "float"}
    first = records[0].data
    schema = dg.TableSchema([dg.TableColumn(name, kinds.get(type(cell), "string")) for name, cell in first.items()])
    return dg.MetadataValue.table(records, schema=schema)


def page_path(url: str) -> str:
    """The address of a page within its site, for tables about one source: a whole one leaves other columns no room."""
    return "/" + url.partition("://")[2].partition("/")[2]


def short_title(title: str | None) -> str | None:
    """The first characters of a title: a row of one line."""
    return title if title is None or len(title) <= _TITLE_CHARS else f"{title[:_TITLE_CHARS].rstrip()}…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
