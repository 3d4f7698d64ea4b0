"""Akoma Ntoso (OASIS LegalDocML), the XML of legal texts: how it is told from other XML."""

from __future__ import annotations

import re

AKOMA_NTOSO = "application/akn+xml"
"""Media type that its naming convention proposes."""
XML_TYPES = frozenset({"application/xml", "text/xml"})
"""Types as which most servers send it."""

_LOOKED_AT = 8_192  # bytes: comments may come before the root
_ROOT = re.compile(rb"<(?:[\w-]+:)?akomaNtoso[\s>]")


def is_akoma_ntoso(body: bytes) -> bool:
    """Whether a body begins as an Akoma Ntoso document does, in an encoding that extends ASCII."""
    return _ROOT.search(body, 0, _LOOKED_AT) is not None
