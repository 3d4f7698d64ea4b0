"""Agent `api`: documents by identifier, from sources that know versions. Whatever they reply is stored."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.acquisition.legal_identifiers import parse_legal_identifier
from webrag_core.config.fetching import FetchingSettings
from webrag_core.corpus.version_texts import version_texts
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.identifiers import named_source
from webrag_core.history.document_apis.models import DocumentReply
from webrag_core.history.document_apis.opening import open_document_apis
from webrag_core.result_warnings import Caution
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import ApiFetch, Task
from webrag_core.routing.results import Finding, Output

_MOST_CHARACTERS = 1_500  # of a document, from its beginning


class ApiAgent:
    """Implements `Agent`. Laws are asked of what is stored, `NAME:IDENTIFIER` of the plugin of that name, addresses of
    the web archive, where one is configured."""

    async def run(self, task: Task, context: Context) -> Output:
        """Look documents up. Raises InvalidInputError for an address without a web archive."""
        params, corpus = task.params, context.corpus
        assert isinstance(params, ApiFetch)
        at = None if params.at is None else AsOf.parse(params.at)
        by_source, refused = _sorted_out(params.identifiers, corpus.settings)
        replies: list[DocumentReply] = []
        for name, identifiers in by_source.items():
            try:
                async with open_document_apis(corpus, [name]) as apis:
                    replies += await apis[name].fetch(identifiers, at)
            except InvalidInputError as error:  # a plugin that cannot be used, or is not set up
                refused.append(error)
        if refused and not replies:
            raise refused[0]
        output = await _output(context, replies)
        output.warnings += [Caution(error.message) for error in refused]
        return output


def _sorted_out(
    identifiers: Sequence[str], settings: FetchingSettings
) -> tuple[dict[str, list[str]], list[InvalidInputError]]:
    """The identifiers for each source, and why others can be asked of none."""
    by_source: dict[str, list[str]] = {}
    refused: list[InvalidInputError] = []
    for identifier in identifiers:
        try:
            name, wanted = _source(identifier, settings)
            by_source.setdefault(name, []).append(wanted)
        except InvalidInputError as error:
            refused.append(error)
    return by_source, refused


def _source(identifier: str, settings: FetchingSettings) -> tuple[str, str]:
    """Name of the source, and what it is asked for. Raises InvalidInputError for what is no identifier of a law or of a
    plugin, where there is no web archive."""
    if (named := named_source(identifier)) is not None:
        return named
    if parse_legal_identifier(identifier) is not None:
        return "legal", identifier
    if settings.memento_timegate is not None:
        return "memento", identifier
    raise InvalidInputError(f"{identifier} is no identifier of a law, and no web archive is set (MEMENTO_TIMEGATE)")


async def _output(context: Context, replies: list[DocumentReply]) -> Output:
    async with context.corpus.database.connection() as connection:
        texts = await version_texts(connection, [reply.version_id for reply in replies if reply.version_id is not None])
    findings = []
    for reply in replies:
        text = None if reply.version_id is None else texts.get(reply.version_id)
        if text is None or reply.version_id is None or reply.url is None:
            continue
        start, end = reply.char_start or 0, len(text) if reply.char_end is None else reply.char_end
        findings.append(
            Finding.of(
                text[start : min(end, start + _MOST_CHARACTERS)].rstrip(),
                group=f"Document {reply.identifier}",
                label=reply.note,
                url=reply.url,
                title=reply.title,
                heading=None,
                version_id=reply.version_id,
                char_start=start,
            )
        )
    missing = [reply.note for reply in replies if reply.version_id is None]
    return Output(findings=findings, note="" if findings else "; ".join(missing), warnings=list(map(Caution, missing)))
