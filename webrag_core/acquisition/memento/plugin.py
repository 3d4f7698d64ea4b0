"""The plugin `memento` of the group `webrag.acquirers`."""

from __future__ import annotations

from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.acquisition.plugins import Fetching
from webrag_core.errors import InvalidInputError


def make(fetching: Fetching) -> MementoAcquirer:
    """Copies in the web archive of the settings. Raises InvalidInputError without MEMENTO_TIMEGATE."""
    timegate = fetching.settings.memento_timegate
    if timegate is None:
        raise InvalidInputError(
            "no web archive is configured: MEMENTO_TIMEGATE is the address of its TimeGate (RFC 7089), such as"
            " https://web.archive.org/web/"
        )
    breaker = None if fetching.breakers is None else fetching.breakers.of("archive", timegate)
    return MementoAcquirer(fetching.direct, timegate, breaker)
