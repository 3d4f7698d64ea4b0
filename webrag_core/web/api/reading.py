"""The endpoints that read what is stored, and the one that notes feedback. They fetch nothing."""

from __future__ import annotations

from starlette.requests import Request

from webrag_core.application.closing_gaps import GoldenGap, Suggestions
from webrag_core.application.operations import RecordFeedback, Search
from webrag_core.application.reading import (
    AnswerList,
    AnswerReply,
    ChangedAnswerList,
    ChangedAnswers,
    ChangeList,
    Changes,
    ConversationList,
    GapList,
    History,
    HistoryReply,
    LatestChangeList,
    LatestChanges,
    ListAnswers,
    ListConversations,
    ListGaps,
    ListSources,
    OpenAnswer,
    OpenConversation,
    SourceList,
    Status,
    StatusReply,
)
from webrag_core.errors import WebragError
from webrag_core.feedback.models import Feedback
from webrag_core.history.conversations import Conversation
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.web.api.operations import Api, Operation


class ForbiddenError(WebragError):
    """The operator has not allowed this."""

    code = "forbidden"


async def feedback(api: Api, request: Request, body: RecordFeedback | GoldenGap) -> Feedback | Suggestions:
    """Note feedback."""
    if not api.settings.mcp_feedback:
        raise ForbiddenError("this server takes no feedback from programs: MCP_FEEDBACK=1 allows it")
    return await api.read(body.run)


OPERATIONS = (
    Operation("POST", "/search", "search", "Search the stored pages", Search, CorpusSearch),
    Operation("GET", "/answers", "answers", "List stored answers, the latest first", ListAnswers, AnswerList),
    Operation(
        "GET",
        "/answers/changed",
        "changed_answers",
        "List answers whose quotes changed; as a feed at /answers/feed.atom",
        ChangedAnswers,
        ChangedAnswerList,
    ),
    Operation(
        "GET",
        "/answers/{number}",
        "answer_by_number",
        "Open a stored answer with the state of its quotes today",
        OpenAnswer,
        AnswerReply,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/conversations",
        "conversations",
        "List conversations of more than one question, the latest first",
        ListConversations,
        ConversationList,
    ),
    Operation(
        "GET",
        "/conversations/{number}",
        "conversation_by_answer",
        "Open the conversation that an answer is of",
        OpenConversation,
        Conversation,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/gaps",
        "gaps",
        "List what the corpus could not answer, by source and week",
        ListGaps,
        GapList,
    ),
    Operation(
        "POST",
        "/gaps/golden",
        "golden_gap",
        "Suggest a passage for each question of a gap; an operator's accepting makes them golden questions",
        GoldenGap,
        Suggestions,
        feedback,
        status=201,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/history",
        "history",
        "When a stored page had which text, and what it said at a time",
        History,
        HistoryReply,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/changes",
        "changes",
        "List changes of a page or a source",
        Changes,
        ChangeList,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/changes/latest",
        "latest_changes",
        "List what changed last in a source; as a feed at /sources/KEY/feed.atom",
        LatestChanges,
        LatestChangeList,
        refusals=(404,),
    ),
    Operation("GET", "/sources", "sources", "List sources with their freshness", ListSources, SourceList),
    Operation("GET", "/status", "status", "Count what is stored", Status, StatusReply),
    Operation(
        "POST",
        "/feedback",
        "feedback",
        "Note what somebody says about an answer; it weighs nothing until the operator accepts it",
        RecordFeedback,
        Feedback,
        feedback,
        status=201,
    ),
)
