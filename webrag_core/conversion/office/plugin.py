"""Office files as plugins of the group `webrag.formats`."""

from __future__ import annotations

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.office.convert import office_html


def to_html(page: AcquiredPage) -> bytes:
    """HTML of an office file. Raises FetchError as `office_html`."""
    return office_html(page.body, page.media_type)
