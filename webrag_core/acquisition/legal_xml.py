"""Akoma Ntoso (OASIS LegalDocML), the XML of legal texts: how it is told from other XML."""

from __future__ import annotations

import re

AKOMA_NTOSO = "application/akn+xml"
"""Media type that its naming convention proposes."""
XML_TYPES = frozenset({"application/xml", "text/xml"})
"""Types as which most servers send it."""

LANGUAGES = dict(
    re.findall(
        r"(\w+):(\w+)",
        """
    ara:ar bul:bg ces:cs dan:da deu:de ger:de ell:el eng:en est:et fin:fi fra:fr fre:fr gle:ga hrv:hr hun:hu ita:it
    jpn:ja lav:lv lit:lt mlt:mt nld:nl dut:nl nor:no pol:pl por:pt ron:ro rum:ro rus:ru slk:sk slv:sl spa:es esp:es
    swe:sv zho:zh chi:zh
    """,
    )
)
"""BCP 47 tags by the codes of ISO 639-2 that the mark-up uses."""

_LOOKED_AT = 8_192  # bytes: comments may come before the root
_ROOT = re.compile(rb"<(?:[\w-]+:)?akomaNtoso[\s>]")


def is_akoma_ntoso(body: bytes) -> bool:
    """Whether a body begins as an Akoma Ntoso document does, in an encoding that extends ASCII."""
    return _ROOT.search(body, 0, _LOOKED_AT) is not None
