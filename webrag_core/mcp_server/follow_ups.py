"""FOLLOW-UP OPTIONS: what can be done next, chosen from what happened."""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.mcp_server.findings import Findings
from webrag_core.orchestration.models import OrchestrationResult

_LIMITS = frozenset(["round-limit", "budget-spent", "page-limit", "timeout"])
_MOST = 3
_WEAK = 0.5
_SURE = 0.8


def after_answer(result: OrchestrationResult, rounds: int, settings: Settings) -> str:
    """At most three steps that could give more than this answer did."""
    options: list[str] = []
    last = result.rounds[-1].signals if result.rounds else None
    links = last.candidates_left if last else 0
    if result.probability_complete < _WEAK and links and result.final_decision.rule in _LIMITS:
        if rounds == 0:
            options.append(
                f'DEEP SEARCH: no link was followed, {links} are known; `answer` with research_mode="deep" follows the'
                " best of them."
            )
        else:
            options.append(
                f"CONTINUE: {links} links are still unread; `answer` again with expansion_budget={2 * rounds} goes on"
                " (stored pages cost nothing)."
            )
    elif result.probability_complete < _WEAK and not links:
        options.append("OTHER START: no link of these pages is left; ask the user for another URL.")
    total = result.corpus_stats.total_tokens
    fits = total <= min(settings.retrieval_context_budget, settings.mcp_response_token_budget)
    more = result.corpus_stats.total_parent_chunks > 1 and result.probability_complete < _SURE
    if result.mode == "chunk" and fits and more:
        options.append(
            f'FULL CONTEXT: all text of these pages ({total} tokens) comes with retrieval_mode="full_context".'
        )
    if not result.citations or (last is not None and last.top_score < _WEAK):
        options.append(_REFINE)
    options.append("FOLLOW-UP SEARCH: these pages are stored; `search` answers further questions on them at once.")
    return "\n".join(f"- {option}" for option in options[:_MOST])


_REFINE = "REFINE QUERY: nothing matches well; ask again in the words that the site would use."


def after_search(found: Findings, *, weak: bool) -> str:
    """What to do with, or without, what is stored."""
    options = []
    if weak or not found.hits:
        options.append(_REFINE)
        options.append("NEW PAGES: `answer` with the URL of a site that may know; `search` reads only what is stored.")
    else:
        options.append('MORE PAGES: `answer` with a source\'s URL and research_mode="auto" follows its links.')
    return "\n".join(f"- {option}" for option in options)
