"""The plugin `browser` of the group `webrag.acquirers`."""

from __future__ import annotations

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.plugins import Fetching
from webrag_core.extras import BROWSER, require_extra


def make(fetching: Fetching) -> Acquirer:
    """Rendering of what the acquirer `http` fetches. Raises MissingExtraError, InvalidInputError without a browser."""
    require_extra(BROWSER, "the acquirer `browser`")
    from webrag_core.acquisition.browser.acquirer import BrowserAcquirer

    return BrowserAcquirer(fetching.settings, fetching.direct)
