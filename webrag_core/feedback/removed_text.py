"""What was removed, in a form that recognises it elsewhere: digests of addresses, hashes of phrases, single words.

It lives in memory alone. Whoever keeps records beside the corpus searches them with it (`plugins.RECORDS`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.documents import find_document
from webrag_core.corpus.sources import find_source
from webrag_core.errors import FetchError
from webrag_core.indexing.terms import terms
from webrag_core.store.database import Database

_PHRASE = 5  # words: shorter ones are anybody's
_LEAST_WORD = 4  # characters
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\)\]}]{1,2000}")
_LONGEST_NAME = 2_000  # characters
_ROWS = 50
_TEXTS_OF_DOCUMENTS = """
SELECT concat_ws(E'\\n', v.title, v.description, v.markdown, m.content::text),
       language_of(v.language, v.detected_language)
FROM document_versions v LEFT JOIN version_markup m ON m.version_id = v.id WHERE v.document_id = ANY(%(subject)s)
"""
_TEXTS_OF_ANSWER = """
SELECT concat_ws(E'\\n', a.query, a.reason, a.prose::text, a.plan::text), NULL FROM answer_runs a
WHERE a.id = %(subject)s UNION ALL SELECT s.text, NULL FROM answer_sentences s WHERE s.answer_id = %(subject)s
"""
_DIGESTS = """
SELECT url_sha256 FROM forgotten_urls
UNION SELECT source_sha256 FROM forgotten_urls WHERE source_sha256 IS NOT NULL
UNION SELECT subject_sha256 FROM removals WHERE kind <> 'answer'
"""


class RemovedText:
    """Recognises removed pages and answers in other text. Empty until it has read something."""

    def __init__(self) -> None:
        self._digests: set[str] = set()
        self._hosts: set[str] = set()
        self._phrases = np.zeros(0, dtype=np.int64)
        self._languages: dict[str, set[str | None]] = {}
        self._words: frozenset[str] = frozenset()

    def add(self, text: str, language: str | None = None, *, is_page: bool = True) -> None:
        """Add a text that is about to be removed; the words of a page are candidates for `only`."""
        words = _words(text)
        self._phrases = np.union1d(self._phrases, _phrases(words))
        if is_page:
            for word in set(words):
                if len(word) >= _LEAST_WORD and not word.isdecimal():
                    self._languages.setdefault(word, set()).add(language)

    def only(self, unused: frozenset[str]) -> None:
        """Take those words whose terms (`unused`) no remaining page has."""
        self._words |= {
            word
            for word, languages in self._languages.items()
            if any(term in unused for language in languages for term in terms(word, language))
        }
        self._languages.clear()

    async def read(self, database: Database, target: str) -> None:
        """Read the page, source or answer that `target` names, as `forget` does, before it is removed. Adds nothing for
        a target that is not stored."""
        async with database.connection() as connection, connection.transaction():
            statement, subject = await _subject(connection, target.strip())
            async with connection.cursor(name="removed_text") as cursor:
                cursor.itersize = _ROWS
                if "://" in target:
                    self._hosts.add(canonicalise(target.strip()).split("/", 3)[2])
                await cursor.execute(statement, {"subject": subject})
                async for text, language in cursor:
                    self.add(text, language, is_page=statement is _TEXTS_OF_DOCUMENTS)

    async def read_digests(self, connection: AsyncConnection) -> None:
        """Read the digests of all addresses and sources that were ever removed, and the hosts that records may leave
        out before a path."""
        cursor = await connection.execute(_DIGESTS)
        self._digests |= {str(row[0]) for row in await cursor.fetchall()}
        cursor = await connection.execute("SELECT DISTINCT split_part(canonical_url, '/', 3) FROM documents")
        self._hosts |= {str(row[0]) for row in await cursor.fetchall()}

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether any of these texts names a removed address or source, has five words in a row of a removed text, or a
        word that only removed pages had."""
        return any(self._is_in(text) for text in texts)

    def _is_in(self, text: str) -> bool:
        if any(hashlib.sha256(name.encode()).hexdigest() in self._digests for name in self._names(text)):
            return True
        words = _words(text)
        return not self._words.isdisjoint(words) or bool(np.isin(_phrases(words), self._phrases).any())

    def _names(self, text: str) -> Iterator[str]:
        """The text itself, as a key of a source stands alone, and the addresses in it as the corpus writes them; one
        that is a path alone below each host."""
        if len(text) <= _LONGEST_NAME and not text.isdecimal():
            yield text
            if text.startswith("/"):
                yield from (f"{scheme}://{host}{text}" for host in self._hosts for scheme in ("https", "http"))
        for match in _ADDRESS.finditer(text):
            for address in {match[0], match[0].rstrip(".,;:!?")}:
                try:
                    yield canonicalise(address)
                except FetchError:
                    continue


async def _subject(connection: AsyncConnection, target: str) -> tuple[str, object]:
    """The statement that reads the texts of a target, and its parameter."""
    if target.isdecimal():
        return _TEXTS_OF_ANSWER, int(target)
    if "://" in target:
        document = await find_document(connection, canonicalise(target))
        return _TEXTS_OF_DOCUMENTS, [] if document is None else [document.id]
    source = await find_source(connection, target)
    cursor = await connection.execute("SELECT id FROM documents WHERE source_id = %s", (source.id,))
    return _TEXTS_OF_DOCUMENTS, [int(row[0]) for row in await cursor.fetchall()]


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _WORD.finditer(text)]


def _phrases(words: list[str]) -> NDArray[np.int64]:
    """Hashes of each five words in a row, sorted; they hold within this process."""
    count = max(len(words) - _PHRASE + 1, 0)
    return np.unique(np.fromiter((hash(tuple(words[i : i + _PHRASE])) for i in range(count)), np.int64, count))
