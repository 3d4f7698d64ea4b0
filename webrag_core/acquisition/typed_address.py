"""Addresses as people type them: `docs.python.org/3/` means https. The one place for every door where they do."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from webrag_core.errors import FetchError, Reason

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?")
_NAME = re.compile(r"(?:[\w-]{1,63}\.)+(?!\d+$)[\w-]{2,63}\.?")
_FILE = re.compile(r"\.(?:csv|docx?|epub|html?|json|odt|pdf|pptx?|txt|xlsx?|xml)$", re.IGNORECASE)
"""Ends of file names that no host name has."""
_SHOWN_CHARS = 60


def typed_address(text: str) -> str:
    """Return the URL that `text` means: itself where it names a scheme, else with https:// before it. With http:// on
    this machine and for private addresses, which seldom have a certificate.

    Raises FetchError(INVALID_URL) for what resembles neither a URL nor a host.
    """
    text = text.strip()
    if _SCHEME.match(text):
        return text
    rest = text.removeprefix("//")
    match = _AUTHORITY.fullmatch(re.split(r"[/?#\\]", rest, maxsplit=1)[0])
    if match is None or not _is_host(match[1], has_port=match[2] is not None):
        shown = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
        raise FetchError(
            Reason.INVALID_URL, f"{shown!r} is no web address; write one as docs.python.org/3/{_way(rest)}"
        )
    return f"{'http' if is_local(match[1]) else 'https'}://{rest}"


def _way(text: str) -> str:
    """What else could be meant: a host of one word."""
    word = re.fullmatch(r"[\w-]+(/\S*)?", text)
    return f", or https://{text}{'' if word[1] else '/'} for a host of your own network" if word else ""


def _is_host(host: str, *, has_port: bool) -> bool:
    """False for a single word without a port, which may be anything, and for the name of a file."""
    if has_port or host.lower() == "localhost" or _address(host) is not None:
        return True
    return _NAME.fullmatch(host) is not None and _FILE.search(host) is None


def is_local(host: str) -> bool:
    """True for this machine's names and for private addresses. `host` as it stands in a URL."""
    address = _address(host)
    if address is None:
        return host.lower().rstrip(".").split(".")[-1] == "localhost"
    return address.is_private


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None
