"""The agents there are, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from webrag_core.routing.agents.protocol import Agent

_NAMES = ("corpus", "pages", "graph", "history", "tables", "api")


class _Agents(Mapping[str, Agent]):
    """One of each; they hold nothing. What an agent needs is imported with its first task: most plans have few."""

    def __getitem__(self, name: str) -> Agent:
        return _agent(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


def make_agents() -> Mapping[str, Agent]:
    """Every agent by its name."""
    return _Agents()


@cache
def _agent(name: str) -> Agent:
    match name:
        case "corpus":
            from webrag_core.routing.agents.corpus import CorpusAgent

            return CorpusAgent()
        case "pages":
            from webrag_core.routing.agents.pages import PagesAgent

            return PagesAgent()
        case "graph":
            from webrag_core.routing.agents.graph import GraphAgent

            return GraphAgent()
        case "history":
            from webrag_core.routing.agents.history import HistoryAgent

            return HistoryAgent()
        case "tables":
            from webrag_core.routing.agents.tables import TablesAgent

            return TablesAgent()
        case "api":
            from webrag_core.routing.agents.api import ApiAgent

            return ApiAgent()
        case _:
            raise KeyError(name)
