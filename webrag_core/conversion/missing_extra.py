"""Pages of kinds whose extra is not installed."""

from __future__ import annotations

from webrag_core.errors import FetchError, Reason
from webrag_core.extras import Extra, is_installed, missing_words


def require_for_page(extra: Extra, kind: str) -> None:
    """Raise FetchError(UNSUPPORTED_TYPE) where the extra that pages of a `kind` need is not installed: such a page
    fails, and others go on."""
    if not is_installed(extra):
        raise FetchError(Reason.UNSUPPORTED_TYPE, missing_words(extra, kind))
