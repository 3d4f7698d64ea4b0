"""What a stored version is made of, as one digest: the same inputs need no second conversion."""

from __future__ import annotations

import hashlib
import json

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION, READ_HEADERS
from webrag_core.corpus.stated_dates import READER
from webrag_core.plugins import FORMATS


def inputs_digest(page: AcquiredPage, removals: str) -> str | None:
    """sha256 of what a page is stored by: its bytes and headers, by which readers, and what was removed on request by
    then (`StoredPage.removals`), which links leave out. Not in it are the detector of languages, and the day, by which
    a date that lies ahead is told from a wrong one.

    None for a 304, which has no bytes, and for formats of plugins, those of offices among them: they may look at
    anything.
    """
    if page.not_modified or page.media_type in FORMATS:
        return None
    headers = sorted((name, value) for name, value in page.headers.items() if name in READ_HEADERS)
    parts = [EXTRACTOR_VERSION, READER, removals, page.final_url, page.status, page.all_text, page.archive_url, headers]
    digest = hashlib.sha256(json.dumps(parts).encode())
    digest.update(page.body)
    return digest.hexdigest()
