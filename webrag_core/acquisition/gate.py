"""The network gate: every fetch of a page goes through here, and every hop of it through every check.

A URL is text from the web, so it may name this machine, its neighbours or a metadata service. The gate
resolves a host once, refuses it unless every address is public, and dials one of those very addresses: a
second look-up, which could answer differently, never happens. Its errors tell nothing about the network.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import pairwise

import ada_url
import httpcore2
import httpx2

from webrag_core.acquisition.addresses import is_public
from webrag_core.acquisition.chain_cookies import ChainCookies
from webrag_core.acquisition.logins import Login, read_logins, unusable
from webrag_core.acquisition.responses import HeadLimit, read_body, read_headers, redirect_location
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import FetchError, InvalidInputError, Reason

MAX_REDIRECTS = 5
MAX_DIALS = 3
CONNECT_TIMEOUT_S = 10.0

# names no host: the URL may come from a page, which must not suggest what to open
_WAY_OUT = "WEBRAG_ALLOW_HOSTS=host:port opens a host of your own network"
_DEFAULT_PORTS = {"http:": 80, "https:": 443}
VALIDATORS = frozenset({"if-none-match", "if-modified-since"})
_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
_SENDABLE = re.compile(r"[\x21-\x7e\xa1-\xff](?:[ \t\x21-\x7e\xa1-\xff]*[\x21-\x7e\xa1-\xff])?")

# its debug lines hold the headers of answers, and so the cookies of a session
logging.getLogger("httpcore2").setLevel(logging.INFO)

_HEAD_SHARE = 2 / 3  # of a page's time for an answer's head: one that never gets to its body has the least excuse

# Threads of their own: a look-up cannot be cancelled, and a name server that never answers must not keep the threads
# that convert and index other pages.
_LOOK_UPS = ThreadPoolExecutor(16, thread_name_prefix="webrag-resolver")

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
Inspector = Callable[[int, Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class GateResponse:
    """The answer at the end of a hop chain. URLs are canonical, header names lower case, `body` is decoded.

    `redirects` holds the URLs passed on the way, asked URL first, final URL not included. `bytes_raw` counts
    the body as sent. `downgraded` is True when a redirect led from https to http.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    bytes_raw: int
    redirects: tuple[str, ...]
    downgraded: bool


@dataclass(frozen=True, slots=True)
class Target:
    """A canonical URL that passed the checks, with the addresses that passed with it, and its parts."""

    url: str
    scheme: str
    host: str
    port: int
    authority: str
    path_query: str
    addresses: tuple[IPv4Address | IPv6Address, ...]


def is_sendable(value: str) -> bool:
    """True when `value` can be sent as a header value: one line, Latin-1, no blanks around it."""
    return _SENDABLE.fullmatch(value) is not None


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Addresses of `host` in the order the system prefers. Raises OSError."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    result = await asyncio.get_running_loop().run_in_executor(_LOOK_UPS, ask)
    return [str(sockaddr[0]) for *_, sockaddr in result]


@cache
def _system_trust() -> ssl.SSLContext:
    """Return the trust store of the system, read once: that takes 30 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class NetworkGate:
    """Fetches with GET under the limits of `settings`. Holds no connection between calls."""

    def __init__(
        self, settings: FetchingSettings, *, resolver: Resolver = system_resolver, tls: ssl.SSLContext | None = None
    ) -> None:
        """`resolver` and `tls` replace the system's look-up and trust store.

        Raises InvalidInputError for an unusable WEBRAG_ALLOW_HOSTS, WEBRAG_USER_AGENT or WEBRAG_LOGINS.
        """
        if not is_sendable(settings.webrag_user_agent):
            raise InvalidInputError("WEBRAG_USER_AGENT cannot be sent as a header")
        self._user_agent = settings.webrag_user_agent
        self._timeout_s = settings.webrag_fetch_timeout
        self._max_bytes = settings.webrag_max_body_bytes
        self._allowed = frozenset(_canonical_pair(host, port) for host, port in settings.allowed_private)
        self._resolver = resolver
        self._tls = tls if tls is not None else _system_trust()
        self._logins = read_logins(settings)
        self._login_tls = {login.host: _tls_of(login) for login in self._logins.by_origin.values()}

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        inspect: Inspector | None = None,
        first_bytes: int | None = None,
        asked_by: str | None = None,
    ) -> GateResponse:
        """GET `url`, following redirects, within the time limit of the settings (seconds for everything).

        `headers` go to every hop, validators (If-None-Match, If-Modified-Since) to the asked origin only: a foreign
        one could recognise the visitor by them. `inspect` sees status and headers of the final answer and may raise
        FetchError, which spares reading the body. `first_bytes` cuts the body there, in place of the size limit.
        `asked_by` is the page whose script asks: log-ins of other origins than its own are not sent then.

        Raises FetchError; InvalidInputError for a header that cannot be sent, or holds credentials: a
        redirect would hand them to strangers.
        """
        wanted = {name.lower(): value for name, value in (headers or {}).items()}
        for name, value in wanted.items():
            if not re.fullmatch(r"[a-z0-9-]+", name) or name in _CREDENTIALS or not is_sendable(value):
                raise InvalidInputError(f"header {name!r} cannot be sent")
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(url, wanted, inspect, first_bytes, asked_by)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, zlib.error) as error:
            raise _as_fetch_error(error) from None  # the chain names addresses

    def login_of(self, url: str, asked_by: str | None = None) -> Login | None:
        """The log-in that is sent with a request for canonical `url`; `asked_by` as for `get`."""
        login = self._logins.of(url)
        return login if login is None or asked_by is None or self._logins.of(asked_by) is login else None

    async def admit(self, url: str, base: str | None = None) -> Target:
        """Every check that comes before dialling. For a URL that somebody else is going to fetch, too.

        Raises FetchError. Sets no time limit of its own to the resolver.
        """
        canonical = canonicalise(url, base)
        parsed = ada_url.URL(canonical)
        host = parsed.hostname.strip("[]")
        port = int(parsed.port or _DEFAULT_PORTS[parsed.protocol])
        allowed = (host, port) in self._allowed
        if not allowed and port not in _DEFAULT_PORTS.values():
            raise FetchError(Reason.BLOCKED_ADDRESS, f"port {port} is not open to fetching; {_WAY_OUT}")
        addresses = await self._resolve(host, port)
        if not allowed and not all(is_public(address) for address in addresses):
            raise FetchError(Reason.BLOCKED_ADDRESS, f"the host is not open to fetching; {_WAY_OUT}")
        path_query = parsed.pathname + parsed.search
        return Target(canonical, parsed.protocol, host, port, parsed.host, path_query, addresses)

    async def _resolve(self, host: str, port: int) -> tuple[IPv4Address | IPv6Address, ...]:
        with suppress(ValueError):
            return (ip_address(host),)
        try:
            addresses = tuple(dict.fromkeys(ip_address(text) for text in await self._resolver(host, port)))
        except (OSError, ValueError):
            addresses = ()
        if not addresses:
            raise FetchError(Reason.DNS_FAILURE, f"the host name {host} has no address")
        return addresses

    async def _follow(
        self,
        url: str,
        headers: Mapping[str, str],
        inspect: Inspector | None,
        first_bytes: int | None,
        asked_by: str | None,
    ) -> GateResponse:
        target = await self.admit(url)
        hops = [target]
        plain = {name: value for name, value in headers.items() if name not in VALIDATORS}
        cookies = ChainCookies()
        while True:
            at_home = (target.scheme, target.authority) == (hops[0].scheme, hops[0].authority)
            origin = f"{target.scheme}//{target.authority}"
            login = self.login_of(target.url, asked_by)
            sent = {**(headers if at_home else plain), **(login.headers if login is not None else {})}
            if held := cookies.header(origin, login.cookies if login is not None else {}):
                sent["cookie"] = held
            async with self._dial(target, sent, login) as response:
                answered = read_headers(response)
                cookies.take(origin, response.headers.raw)
                location = redirect_location(response)
                if location is None:
                    if inspect is not None:
                        inspect(response.status_code, answered)
                    body, bytes_raw = await read_body(
                        response, answered, first_bytes or self._max_bytes, cut=first_bytes is not None
                    )
                    break
            if len(hops) > MAX_REDIRECTS:
                raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")
            target = await self.admit(location, base=target.url)
            hops.append(target)
        answered.pop("set-cookie", None)
        if self._logins.given_away(" ".join(hop.url for hop in hops), body):
            raise FetchError(Reason.BAD_RESPONSE, "the answer repeats the log-in that was sent, so it is not kept")
        return GateResponse(
            url=hops[0].url,
            final_url=target.url,
            status=response.status_code,
            headers=answered,
            body=body,
            bytes_raw=bytes_raw,
            redirects=tuple(hop.url for hop in hops[:-1]),
            downgraded=any(a.scheme == "https:" and b.scheme == "http:" for a, b in pairwise(hops)),
        )

    def _trust(self, login: Login | None) -> ssl.SSLContext:
        """What verifies the server, with the certificate to show it, if its log-in has one."""
        of_login = None if login is None else self._login_tls[login.host]
        return self._tls if of_login is None else of_login

    @asynccontextmanager
    async def _dial(
        self, target: Target, headers: Mapping[str, str], login: Login | None
    ) -> AsyncIterator[httpx2.Response]:
        # A transport of its own per hop, and no client: a pool knows connections by address, so it would
        # reuse one for another name there without checking its certificate; a client also keeps cookies.
        transport, limit = httpx2.AsyncHTTPTransport(verify=self._trust(login), trust_env=False), HeadLimit()
        transport._pool = httpcore2.AsyncConnectionPool(ssl_context=self._trust(login), network_backend=limit)
        try:
            async with asyncio.timeout(self._timeout_s * _HEAD_SHARE):
                response = await self._first_answer(transport, target, headers)
            limit.complete = True
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            await transport.aclose()

    async def _first_answer(
        self, transport: httpx2.AsyncHTTPTransport, target: Target, headers: Mapping[str, str]
    ) -> httpx2.Response:
        *first, last = target.addresses[:MAX_DIALS]
        for address in first:
            try:
                return await self._send(transport, target, address, headers)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                if _is_tls(error):
                    raise
        return await self._send(transport, target, last, headers)

    async def _send(
        self,
        transport: httpx2.AsyncHTTPTransport,
        target: Target,
        address: IPv4Address | IPv6Address,
        headers: Mapping[str, str],
    ) -> httpx2.Response:
        sent = {
            "user-agent": self._user_agent,
            **headers,
            "host": target.authority,
            "accept-encoding": "gzip, identity;q=0.5",
            "connection": "close",
        }
        literal = f"[{address}]" if address.version == 6 else str(address)
        request = httpx2.Request(
            "GET",
            f"{target.scheme}//{literal}:{target.port}/",
            headers=[(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
            extensions={
                "timeout": {"connect": CONNECT_TIMEOUT_S},  # the deadline around everything limits the rest
                "sni_hostname": target.host,
                # The path goes out as ada spelled it: httpx2 would escape it once more, by other rules.
                "target": target.path_query.encode(),
            },
        )
        response = await transport.handle_async_request(request)
        response.request = request
        return response


def _tls_of(login: Login) -> ssl.SSLContext | None:
    """TLS with a client's certificate, or with the trust in one authority; None where neither is named."""
    if login.certificate is None and login.authority is None:
        return None
    try:
        if login.authority is not None:
            context = ssl.create_default_context(cafile=login.authority)
        else:
            context = httpx2.create_ssl_context(trust_env=False)
        if login.certificate is not None:
            # without a password of its own the library would ask for it on the terminal
            context.load_cert_chain(login.certificate, login.key, password="")
    except (OSError, ValueError):  # ssl.SSLError is an OSError
        raise unusable(login.host, "its certificate, key or authority cannot be loaded") from None
    return context


def _canonical_pair(host: str, port: int) -> tuple[str, int]:
    literal = f"[{host}]" if ":" in host else host
    try:
        return ada_url.URL(canonicalise(f"http://{literal}/")).hostname.strip("[]"), port
    except FetchError:
        raise InvalidInputError(f"WEBRAG_ALLOW_HOSTS: {host!r} is not a host") from None


def _is_tls(error: BaseException | None) -> bool:
    # The "want" errors are TLS asking for more bytes: a read that fails for any reason has one behind it.
    wanting = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
    while error is not None and (not isinstance(error, ssl.SSLError) or isinstance(error, wanting)):
        error = error.__cause__ or error.__context__
    return error is not None


def _as_fetch_error(error: Exception) -> FetchError:
    match error:
        case httpx2.TimeoutException() | TimeoutError():
            return FetchError(Reason.TIMEOUT, "the host did not answer in time")
        case _ if _is_tls(error):
            return FetchError(Reason.TLS_FAILURE, "no trusted TLS connection to the host")
        case httpx2.ConnectError() | OSError():
            return FetchError(Reason.CONNECT_FAILURE, "the host cannot be reached")
        case httpx2.InvalidURL() | httpx2.LocalProtocolError():
            return FetchError(Reason.INVALID_URL, "URL refused: it cannot be sent as a request")
        case zlib.error():
            return FetchError(Reason.BAD_RESPONSE, "the compressed body is damaged")
    return FetchError(Reason.BAD_RESPONSE, "the answer is not valid HTTP or broke off")
