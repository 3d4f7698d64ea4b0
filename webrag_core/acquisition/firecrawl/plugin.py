"""The plugin `firecrawl` of the group `webrag.acquirers`."""

from __future__ import annotations

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.plugins import Fetching
from webrag_core.errors import InvalidInputError
from webrag_core.extras import FIRECRAWL, require_extra


def make(fetching: Fetching) -> Acquirer:
    """Firecrawl, with the acquirer `http` as its fallback. Raises InvalidInputError where neither key nor address is
    set, MissingExtraError."""
    settings = fetching.settings
    if settings.firecrawl_api_key is None and settings.firecrawl_api_url is None:
        raise InvalidInputError("the acquirer `firecrawl` needs FIRECRAWL_API_KEY or FIRECRAWL_API_URL")
    require_extra(FIRECRAWL, "FIRECRAWL_API_KEY or FIRECRAWL_API_URL")
    from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
    from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer

    return FallbackAcquirer(FirecrawlAcquirer(settings, fetching.gate, fetching.breakers), fetching.direct)
