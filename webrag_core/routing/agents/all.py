"""The agents there are, by name."""

from __future__ import annotations

from collections.abc import Mapping

from webrag_core.routing.agents.corpus import CorpusAgent
from webrag_core.routing.agents.graph import GraphAgent
from webrag_core.routing.agents.history import HistoryAgent
from webrag_core.routing.agents.pages import PagesAgent
from webrag_core.routing.agents.protocol import Agent


def make_agents() -> Mapping[str, Agent]:
    """One of each; they hold nothing."""
    return {"corpus": CorpusAgent(), "pages": PagesAgent(), "graph": GraphAgent(), "history": HistoryAgent()}
