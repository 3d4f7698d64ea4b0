"""Agent `api`: documents by identifier, from sources that know versions. Whatever they reply is stored."""

from __future__ import annotations

from webrag_core.acquisition.legal_identifiers import parse_legal_identifier
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import DocumentReply
from webrag_core.history.document_apis.opening import open_document_apis
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.agents.texts import version_texts
from webrag_core.routing.plan import ApiFetch, ApiTitles, ApiVersions, Task
from webrag_core.routing.results import Finding, Output

_MOST_CHARACTERS = 1_500  # of a document, from its beginning


class ApiAgent:
    """Implements `Agent`. Laws are asked of what is stored, addresses of the web archive, where one is configured."""

    async def run(self, task: Task, context: Context) -> Output:
        """Look documents up. Raises InvalidInputError for an address without a web archive."""
        params = task.params
        async with open_document_apis(context.corpus) as apis:
            if isinstance(params, ApiTitles):
                titles = await apis["legal"].search_titles(params.text)
                return Output(note="; ".join(f"{one.title or one.url} ({one.url})" for one in titles))
            if isinstance(params, ApiVersions):
                listed = await apis[_source(params.identifier, apis)].versions(params.identifier)
                dates = [f"{one.start:%Y-%m-%d}" for one in listed if one.start is not None]
                return Output(note=f"{len(listed)} versions of {params.identifier}: {', '.join(dates[:20])}")
            assert isinstance(params, ApiFetch)
            at = None if params.at is None else AsOf.parse(params.at)
            replies: list[DocumentReply] = []
            for identifier in params.identifiers:
                replies += await apis[_source(identifier, apis)].fetch([identifier], at)
        return await _output(context, replies)


def _source(identifier: str, apis: object) -> str:
    """Raises InvalidInputError for what is no identifier of a law, where there is no web archive."""
    if parse_legal_identifier(identifier) is not None:
        return "legal"
    if isinstance(apis, dict) and "memento" in apis:
        return "memento"
    raise InvalidInputError(f"{identifier} is no identifier of a law, and no web archive is set (MEMENTO_TIMEGATE)")


async def _output(context: Context, replies: list[DocumentReply]) -> Output:
    async with context.corpus.database.connection() as connection:
        texts = await version_texts(connection, [one.version_id for one in replies if one.version_id is not None])
    findings = []
    for one in replies:
        text = None if one.version_id is None else texts.get(one.version_id)
        if text is None or one.version_id is None or one.url is None:
            continue
        start, end = one.char_start or 0, len(text) if one.char_end is None else one.char_end
        findings.append(
            Finding.of(
                text[start : min(end, start + _MOST_CHARACTERS)].rstrip(),
                group=f"Document {one.identifier}",
                label=one.note,
                url=one.url,
                title=one.title,
                heading=None,
                version_id=one.version_id,
                char_start=start,
            )
        )
    missing = [one.note for one in replies if one.version_id is None]
    return Output(findings=findings, note="; ".join(missing), warnings=[] if findings else missing)
