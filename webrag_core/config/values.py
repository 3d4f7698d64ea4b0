"""Types of settings: keys, addresses and names that may be blank."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, HttpUrl, SecretStr

from webrag_core.errors import InvalidInputError
from webrag_core.plugins import PluginGroup

_VERSION = re.compile(r"api-version=[\w.-]+")


def installed(group: PluginGroup, name: str) -> str:
    """`name`, where the group has it. Raises ValueError, which becomes the setting's error."""
    try:
        return group.check(name)
    except InvalidInputError as error:
        raise ValueError(error.message) from None


def listed(text: str) -> frozenset[str]:
    """What a setting lists between commas, in lower case."""
    return frozenset(filter(None, (part.strip().lower() for part in text.split(","))))


def _trimmed(value: object) -> object:
    """Blank means unset; a key read from a file ends with a newline."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return text.strip() or None if isinstance(text, str) else text


def _fits_a_header(key: SecretStr | None) -> SecretStr | None:
    if key is not None and not all("!" <= character <= "~" for character in key.get_secret_value()):
        raise ValueError("holds a character that no HTTP header can carry")
    return key


def _plain_url(url: str | None) -> str | None:
    if url is None:
        return None
    parts = HttpUrl(url)
    query = parts.query if parts.query is None or not _VERSION.fullmatch(parts.query) else None
    if parts.username or parts.password or query or parts.fragment:
        raise ValueError(
            "a base URL has no credentials, fragment, or query but api-version; a key has its own variable"
        )
    return url.rstrip("/")


Trimmed = Annotated[str | None, BeforeValidator(_trimmed)]
TrimmedSecret = Annotated[SecretStr | None, BeforeValidator(_trimmed)]
Key = Annotated[SecretStr | None, BeforeValidator(_trimmed), AfterValidator(_fits_a_header)]
BaseUrl = Annotated[str | None, BeforeValidator(_trimmed), AfterValidator(_plain_url)]
