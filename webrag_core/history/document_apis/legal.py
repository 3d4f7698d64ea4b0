"""Laws by identifier (URN:NIR, ELI, IRIs of Akoma Ntoso), among the stored pages that state them; none is fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from webrag_core.acquisition.legal_identifiers import LegalIdentifier, parse_legal_identifier
from webrag_core.corpus.in_force import KINDS
from webrag_core.corpus.validity import read_missing
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import (
    DocumentReply,
    DocumentVersion,
    TitledDocument,
    check_batch,
    midnight,
)
from webrag_core.history.document_apis.resolving import failure, reply_at
from webrag_core.history.document_apis.titles import OF_LAWS, search_titles
from webrag_core.history.legal import LawNotStoredError, page_of_law, part_of
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

_NORMATTIVA = "https://www.normattiva.it/uri-res/N2Ls?"  # never asked: its pattern as its documentation shows it
_STATED = """
SELECT d.canonical_url, lower(y.valid), upper(y.valid), v.id
FROM version_validity y JOIN document_versions v ON v.id = y.version_id JOIN documents d ON d.id = v.document_id
WHERE d.canonical_url = %s AND y.kind = ANY(%s) ORDER BY lower(y.valid) NULLS FIRST, upper(y.valid) NULLS LAST, v.id
"""


class LegalApi:
    """Implements `DocumentApi` over stored laws, by the time in which their texts hold. A law that no page states is
    not found; the reply has the address where it could be asked for, where one is known."""

    name = "legal"

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fetch(self, identifiers: Sequence[str], at: AsOf | None = None) -> list[DocumentReply]:
        """The versions in force at a time; a day in an identifier goes before `at`. Without either, what the page says
        now. Raises as the protocol says."""
        batch = check_batch(identifiers)
        replies: dict[str, DocumentReply] = {}
        for identifier in batch:
            try:
                replies[identifier] = await _reply(self._database, identifier, at)
            except LawNotStoredError as error:
                replies[identifier] = _not_found(identifier, error)
            except (InvalidInputError, FetchError) as error:
                replies[identifier] = failure(identifier, error)
        return [replies[identifier] for identifier in identifiers]

    async def versions(self, identifier: str) -> list[DocumentVersion]:
        """The times in which the stored texts of a law hold, by what they say. Raises InvalidInputError."""
        law = _parsed(identifier)
        await read_missing(self._database)
        async with self._database.connection() as connection:
            url = await page_of_law(connection, law)
            cursor = await connection.execute(_STATED, (url, list(KINDS)))
            return [
                DocumentVersion(url=page, start=midnight(start), end=midnight(end), version_id=version)
                for page, start, end, version in await cursor.fetchall()
            ]

    async def search_titles(self, text: str) -> list[TitledDocument]:
        """Pages that state an identifier. Raises InvalidInputError."""
        async with self._database.connection() as connection:
            return await search_titles(connection, text, OF_LAWS)


@asynccontextmanager
async def open_api(corpus: Corpus) -> AsyncIterator[LegalApi]:
    """The plugin `legal` of the group `webrag.documents`."""
    yield LegalApi(corpus.database)


def resolver_address(law: LegalIdentifier, identifier: str) -> str | None:
    """Where a law could be asked for: Normattiva's resolver for URN:NIR, an ELI that is an address itself."""
    if law.work.lower().startswith("urn:nir:"):
        return _NORMATTIVA + identifier.strip()
    return identifier.strip() if "://" in law.work else None


def _parsed(identifier: str) -> LegalIdentifier:
    law = None if "\0" in identifier else parse_legal_identifier(identifier)
    if law is None:
        raise InvalidInputError(
            f"{identifier[:200]!r} is no identifier of a law: URN:NIR, ELI or an IRI of Akoma Ntoso", code="malformed"
        )
    return law


async def _reply(database: Database, identifier: str, at: AsOf | None) -> DocumentReply:
    law = _parsed(identifier)
    async with database.connection() as connection:
        url = await page_of_law(connection, law)
    when = at if law.day is None else AsOf.parse(law.day.isoformat())
    reply = await reply_at(database, identifier, url, when, "seen" if when is None else "valid")
    if law.part is None or reply.version_id is None:
        return reply
    try:
        async with database.connection() as connection:
            cursor = await connection.execute(
                "SELECT markdown FROM document_versions WHERE id = %s", (reply.version_id,)
            )
            row = await cursor.fetchone()
            start, end = await part_of(connection, reply.version_id, row[0] if row else "", law.part)
    except InvalidInputError as error:
        return reply.model_copy(
            update={
                **dict.fromkeys(("version_id", "version", "version_sha256", "char_start", "char_end")),
                **{"status": "not_found", "code": "no_such_part", "note": error.message},
                "nearest_version_id": reply.version_id,
            }
        )
    return reply.model_copy(update={"char_start": start, "char_end": end})


def _not_found(identifier: str, error: InvalidInputError) -> DocumentReply:
    address = resolver_address(_parsed(identifier), identifier)
    where = "no address to ask for it is known" if address is None else f"it could be asked for at {address}"
    return DocumentReply(identifier=identifier, status="not_found", note=f"{error.message}; {where}", address=address)
