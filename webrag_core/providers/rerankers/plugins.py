"""Rerankers that are plugins: how one is made, and what holds for those of other packages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from webrag_core.config import Settings
from webrag_core.config.reranking import RerankingSettings
from webrag_core.errors import RerankError
from webrag_core.plugins import RERANKERS, Plugin, failure_of
from webrag_core.providers.rerankers.protocol import Reranked, Reranker
from webrag_core.providers.rerankers.remote import checked_ranking
from webrag_core.store.breakers import Breakers


def plugin_reranker(name: str, settings: Settings, breakers: Breakers | None = None) -> Reranker:
    """The reranker of the plugin `name`. Raises InvalidInputError for an unknown name, PluginError for a plugin that
    cannot be used, and what the plugin raises of ours."""
    plugin = RERANKERS.find(name)
    reranker = plugin.make(settings, breakers)
    if not isinstance(reranker, Reranker):
        raise plugin.broken("makes no Reranker")
    if reranker.name != name:
        raise plugin.broken(f"makes a reranker that calls itself {reranker.name!r}")
    return reranker if plugin.is_ours else GuardedReranker(plugin, reranker, settings)


class GuardedReranker:
    """A reranker of another package. Implements `Reranker`: its ranking is checked, has RERANKER_TIMEOUT, and whatever
    it raises costs the ranking and not the answer."""

    def __init__(self, plugin: Plugin, reranker: Reranker, settings: RerankingSettings) -> None:
        self.name = reranker.name
        self._plugin = plugin
        self._reranker = reranker
        self._seconds = settings.reranker_timeout

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> Reranked:
        """As `Reranker.rerank`. Raises RerankError alone."""
        try:
            async with asyncio.timeout(self._seconds):
                ranking = await self._reranker.rerank(query, passages, term_idf=term_idf, instruction=instruction)
        except RerankError:
            raise
        except TimeoutError:
            raise RerankError(self.name, f"no answer within {self._seconds:g} s") from None
        except Exception as error:
            problem = self._plugin.broken(failure_of(error)).message
            raise RerankError(self.name, problem) from error
        if not isinstance(ranking, Reranked):
            raise RerankError(self.name, self._plugin.broken("gives no Reranked").message)
        if not passages:
            return Reranked([])
        checked = checked_ranking(self.name, list(ranking.results), len(passages))
        warnings = (*map(str, ranking.warnings), *checked.warnings)
        return Reranked(checked.results, warnings, checked.squashed)
