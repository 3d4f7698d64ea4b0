"""Answer only requests that name this server and do not come from another site's page.

A browser sends requests of any web page to local servers, and a name that an attacker controls can be pointed at
127.0.0.1 (DNS rebinding). `Host` and `Origin` are therefore parsed and compared by host and port, never by prefix.
"""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
from collections.abc import Collection
from dataclasses import dataclass

from pydantic import SecretStr
from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.access_token import PARAMETER
from webrag_core.application.refusals import Refusal
from webrag_core.errors import AddressInUseError, InvalidInputError

_AUTHORITY = re.compile(r"([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SHORTEST_TOKEN = 16
_OWN_SITES = ("same-origin", "none")  # none: typed by the user


@dataclass(frozen=True, slots=True)
class Authority:
    """Host and port of a `Host` header or an origin; the host in lower case, IPv6 compressed, without brackets."""

    host: str
    port: int | None = None

    @classmethod
    def parsed(cls, text: str) -> Authority | None:
        """Parse `host`, `host:port`, `[IPv6]` or `[IPv6]:port`; None for anything else."""
        match = _AUTHORITY.fullmatch(text)
        if match is None:
            return None
        host, port = match[1].lower(), None if match[2] is None else int(match[2])
        if port is not None and not 0 < port < 65_536:
            return None
        if host.startswith("["):
            try:
                host = ipaddress.IPv6Address(host[1:-1]).compressed
            except ValueError:
                return None
        return cls(host, port)

    def has_port(self, port: int) -> bool:
        """True when `port` is meant: a missing port means those of http and https."""
        return port == self.port if self.port is not None else port in _DEFAULT_PORTS.values()


def parsed_hosts(listed: str, setting: str) -> frozenset[Authority]:
    """Parse a comma-separated setting; an entry without a port means any port.

    Raises InvalidInputError naming `setting` for an entry that is not `host` or `host:port`.
    """
    hosts = set()
    for entry in filter(None, (part.strip() for part in listed.split(","))):
        host = Authority.parsed(entry)
        if host is None:
            raise InvalidInputError(f"{setting}: {entry!r} is not host or host:port")
        hosts.add(host)
    return frozenset(hosts)


def check_token(token: SecretStr | None, setting: str) -> None:
    """Raise InvalidInputError naming `setting` for a token that is too short to be safe from guessing."""
    if token is not None and len(token.get_secret_value()) < _SHORTEST_TOKEN:
        raise InvalidInputError(f"{setting} is shorter than {_SHORTEST_TOKEN} characters")


def shown_token(scope: Scope) -> bytes | None:
    """The bearer token of a request, else the one in its address; None where there is none, or more than one."""
    bearers = Headers(scope=scope).getlist("authorization")
    if bearers:
        kind, _, value = bearers[0].partition(" ")
        return value.encode("latin-1") if len(bearers) == 1 and kind == "Bearer" else None
    values = QueryParams(scope["query_string"]).getlist(PARAMETER)
    return values[0].encode() if len(values) == 1 else None


def is_loopback(host: str) -> bool:
    """True when only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_free(host: str, port: int, setting: str = "--port") -> None:
    """Raise AddressInUseError where another program listens at `host` and `port`, InvalidInputError where this one may
    not; `setting` chooses another port. To be called before a server opens anything."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(address)
                except OSError as error:
                    if error.errno != errno.EADDRNOTAVAIL:  # "localhost" has an address in IPv6 where nobody has that
                        raise
    except OSError as error:
        where = f"port {port} of {host}"
        if error.errno != errno.EADDRINUSE:
            raise InvalidInputError(f"{where} cannot be used: {error.strerror}; {setting} chooses another") from None
        raise AddressInUseError(
            f"{where} is in use, perhaps by another `webrag serve` or `webrag up`: end that, or choose another port"
            f" with {setting}"
        ) from None


class RequireOwnHost:
    """ASGI middleware: refuse foreign hosts (421) and pages of other origins (403).

    `hosts` are accepted besides this machine's own names at the port that was connected to (`loopback`). Links on other
    sites may open pages by GET if `links` is true, but nothing at or below the paths `unlinked`. Paths in `open_paths`
    are answered to everyone. Refusals name `setting`, which extends `hosts`.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[Authority],
        *,
        setting: str,
        loopback: bool = True,
        links: bool = False,
        unlinked: Collection[str] = (),
        open_paths: Collection[str] = (),
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._setting = setting
        self._loopback = loopback
        self._links = links
        self._unlinked = tuple(f"{path}/" for path in unlinked)
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in self._open_paths:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_own(headers, scope.get("server")):
            status, reason = 421, f"this server does not answer to this host name and port; see {self._setting}"
        elif not (_is_same_origin(headers) or (self._is_linked(scope["path"]) and _is_followed_link(scope, headers))):
            status, reason = 403, "requests from pages of another origin are refused"
        else:
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
        else:
            await Refusal(status, "refused", reason).response()(scope, receive, send)

    def _is_linked(self, path: str) -> bool:
        return self._links and not f"{path}/".startswith(self._unlinked)

    def _is_own(self, headers: Headers, server: tuple[str, int | None] | None) -> bool:
        host = _host(headers)
        if host is None:
            return False
        if Authority(host.host) in self._hosts or any(
            host.host == place.host and place.port is not None and host.has_port(place.port) for place in self._hosts
        ):
            return True
        port = server[1] if server else None
        return self._loopback and is_loopback(host.host) and port is not None and host.has_port(port)


def _host(headers: Headers) -> Authority | None:
    """Return the parsed `Host` header; None unless there is exactly one well-formed one."""
    values = headers.getlist("host")
    return Authority.parsed(values[0]) if len(values) == 1 else None


def _is_same_origin(headers: Headers) -> bool:
    """True when `Origin` and `Sec-Fetch-Site`, where present, name the page's own server."""
    if any(site not in _OWN_SITES for site in headers.getlist("sec-fetch-site")):
        return False
    origins = headers.getlist("origin")
    if not origins:
        return True
    host = _host(headers)
    scheme, separator, place = origins[0].partition("://")
    origin = Authority.parsed(place)
    if len(origins) > 1 or not separator or scheme not in _DEFAULT_PORTS or host is None or origin is None:
        return False
    default = _DEFAULT_PORTS[scheme]
    return (origin.host, origin.port or default) == (host.host, host.port or default)


def _is_followed_link(scope: Scope, headers: Headers) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and not headers.getlist("origin")
        and headers.getlist("sec-fetch-mode") == ["navigate"]
        and headers.getlist("sec-fetch-dest") == ["document"]
    )
