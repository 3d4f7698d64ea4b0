"""The endpoints that add, list and remove watches. What they bring goes to where the operator set alerts to go."""

from __future__ import annotations

from webrag_core.application.watching import AddWatch, ListWatches, RemoveWatch, WatchList
from webrag_core.watches.models import Watch
from webrag_core.web.api.operations import Operation

OPERATIONS = (
    Operation("GET", "/watches", "watches", "List what is watched", ListWatches, WatchList),
    Operation(
        "POST",
        "/watches",
        "watch",
        "Watch a page, a section of it, a question, or the question of a stored answer",
        AddWatch,
        Watch,
        status=201,
        refusals=(404, 422),
    ),
    Operation(
        "DELETE", "/watches/{number}", "unwatch", "Watch something no longer", RemoveWatch, Watch, refusals=(404,)
    ),
)
