"""Agent `corpus`: search what is stored."""

from __future__ import annotations

from webrag_core.orchestration.request import reranker_instruction
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.dates import stated_range
from webrag_core.retrieval.models import CorpusStats
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.routing.agents.nothing_found import nothing_found
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.expected import stored_complete
from webrag_core.routing.plan import CorpusSearch, Task
from webrag_core.routing.results import Output
from webrag_core.store.database import Database


class CorpusAgent:
    """Implements `Agent`."""

    async def run(self, task: Task, context: Context) -> Output:
        """Search by the default pattern."""
        params = task.params
        assert isinstance(params, CorpusSearch)
        corpus = context.corpus
        filters = params.filters()
        request = SearchRequest(
            query=params.query,
            filters=filters,
            dated=stated_range(params.since, params.until),
            requested_years=params.years,
            top_k=params.k,
        )
        wanted = reranker_instruction(params.intent, params.constraints, corpus.settings)
        results = await search(corpus, request, instruction=wanted, is_part=True)
        sizes = results.corpus_stats
        return Output(
            evidence=results.chunks,
            top_score=results.top_score,
            complete=stored_complete(results.top_score, 1.0 if params.coverage is None else params.coverage),
            note="calibrated" if results.chunks else await _why_nothing(corpus.database, request, sizes),
            warnings=[Caution(warning) for warning in results.warnings],
            spellings=results.spellings,
        )


async def _why_nothing(database: Database, request: SearchRequest, searched: CorpusStats) -> str:
    if request.date_ranges and not searched.total_documents:
        return "no stored page states a date within the limits that were given"
    return await nothing_found(database, request.filters, None)
