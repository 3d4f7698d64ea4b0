"""The agents there are, by name."""

from __future__ import annotations

from collections.abc import Mapping

from webrag_core.routing.agents.api import ApiAgent
from webrag_core.routing.agents.corpus import CorpusAgent
from webrag_core.routing.agents.graph import GraphAgent
from webrag_core.routing.agents.history import HistoryAgent
from webrag_core.routing.agents.pages import PagesAgent
from webrag_core.routing.agents.protocol import Agent
from webrag_core.routing.agents.tables import TablesAgent


def make_agents() -> Mapping[str, Agent]:
    """One of each; they hold nothing."""
    return {
        "corpus": CorpusAgent(),
        "pages": PagesAgent(),
        "graph": GraphAgent(),
        "history": HistoryAgent(),
        "tables": TablesAgent(),
        "api": ApiAgent(),
    }
