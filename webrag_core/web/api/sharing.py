"""The endpoints that make, list and revoke links to one answer."""

from __future__ import annotations

from webrag_core.application.sharing import ListShares, RevokeShare, ShareAnswer, SharedLink, ShareList
from webrag_core.history.shares import Share
from webrag_core.web.api.operations import Operation

OPERATIONS = (
    Operation("GET", "/shares", "shares", "List links that show one answer", ListShares, ShareList),
    Operation(
        "POST",
        "/shares",
        "share",
        "Make a link that shows one answer to whoever has it",
        ShareAnswer,
        SharedLink,
        status=201,
        refusals=(404,),
    ),
    Operation("DELETE", "/shares/{number}", "unshare", "Revoke a link", RevokeShare, Share, refusals=(404,)),
)
