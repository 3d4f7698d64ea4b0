"""What may be searched for: texts that the database and every tokenizer can take."""

from __future__ import annotations

from webrag_core.errors import InvalidInputError


def check_text(text: str, what: str) -> None:
    """Raise InvalidInputError, naming `what`, for a text that is blank or that is none: it holds a null character or
    bytes that are not UTF-8 (lone surrogates, as in command line arguments)."""
    if not text.strip():
        raise InvalidInputError(f"the {what} is empty")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(f"the {what} holds bytes that are no text")


def check_query(query: str) -> None:
    """`check_text` for a query."""
    check_text(query, "query")
