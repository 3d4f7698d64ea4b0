"""robots.txt as RFC 9309 has it: read through the gate, kept per origin, asked before every request of ours."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import ada_url
from protego import Protego

from webrag_core.acquisition.gate import NetworkGate, Resolver, Target, system_resolver
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason

MAX_ROBOTS_BYTES = 500 * 1024
MAX_CRAWL_DELAY_S = 30.0
MAX_SITEMAPS = 100
ROBOTS_TIMEOUT_S = 10.0
TTL_S = 24 * 3600.0
UNREACHABLE_TTL_S = 60.0
MAX_ORIGINS = 1_000

_AGENT_LINE = re.compile(r"\s*user[ -]?agent\s*(?::|\s)\s*(.*)", re.IGNORECASE)
_TOKEN = re.compile(r"\*|[a-z_-]+", re.IGNORECASE)
_FIELD = re.compile(r"\s*([a-z][a-z -]{0,40}?)[ \t]{0,40}:", re.IGNORECASE)
_OUR_FIELDS = ("allow", "dis", "dia", "crawl", "site")  # as they begin: "disallow" is often misspelt
_NOBODY = "\x00"  # a group for somebody else: no product token contains it


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one origin lets one product token do. `crawl_delay_s` is capped; `sitemaps` are as written.

    `refusal` is set when everything is disallowed for now because the file could not be read.
    """

    token: str
    parsed: Protego | None = None
    crawl_delay_s: float = 0.0
    sitemaps: tuple[str, ...] = ()
    refusal: FetchError | None = None

    def check(self, url: str) -> None:
        """Raises FetchError(ROBOTS_DISALLOWED) for a canonical `url` that may not be fetched.

        When the file could not be read the error is the reason for that.
        """
        if self.refusal is not None:
            refused = self.refusal
            raise FetchError(refused.reason, refused.message, status=refused.status)
        if self.parsed is not None and not self.parsed.can_fetch(url, self.token):
            raise FetchError(Reason.ROBOTS_DISALLOWED, "robots.txt of the site does not allow fetching this page")


def product_token(user_agent: str) -> str:
    """The name that groups of a robots.txt are matched with: first word of `user_agent`, up to its slash."""
    words = re.split(r"[\s/]", user_agent.strip(), maxsplit=1)
    return words[0]


def parse_robots(text: str, token: str) -> RobotsRules:
    """The rules of a robots.txt for `token`. Pure; whatever cannot be understood is left out.

    Product tokens are compared whole and without case, up to the first character that no token contains; lines
    that are no rules do not end a group.
    """
    lines = (_normalised(line, token.lower()) for line in text.removeprefix("\ufeff").splitlines())
    parsed = Protego.parse("\n".join(line for line in lines if line is not None))
    delay = parsed.crawl_delay(token) or 0.0
    return RobotsRules(
        token=token,
        parsed=parsed,
        crawl_delay_s=min(float(delay), MAX_CRAWL_DELAY_S),
        sitemaps=tuple(dict.fromkeys(parsed.sitemaps))[:MAX_SITEMAPS],
    )


def _normalised(line: str, token: str) -> str | None:
    """A line in the one spelling that protego reads as the RFC means it; None for a line that is no rule."""
    line = line.partition("#")[0]
    agent = _AGENT_LINE.match(line)
    if agent is not None:
        named = _TOKEN.match(agent.group(1))
        name = named.group().lower() if named else _NOBODY
        return f"User-agent: {name if name in ('*', token) else _NOBODY}"
    field = _FIELD.match(line)
    if field is not None and not field.group(1).lower().startswith(_OUR_FIELDS):
        return None
    return line


class Robots:
    """Rules of every origin met, for the product token of one user agent. One per acquirer and event loop."""

    def __init__(self, gate: NetworkGate, user_agent: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`gate` must not itself ask robots.txt. `clock` gives seconds."""
        self._gate = gate
        self._token = product_token(user_agent)
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._reading: dict[str, asyncio.Lock] = {}

    async def check(self, url: str) -> RobotsRules:
        """The rules of the origin of `url`. Raises FetchError when they do not allow to fetch it."""
        canonical = canonicalise(url)
        rules = await self.rules(canonical)
        rules.check(canonical)
        return rules

    async def rules(self, url: str) -> RobotsRules:
        """The rules of the origin of `url`, at most a day old. Whoever asks meanwhile waits for one request.

        Raises FetchError(INVALID_URL).
        """
        origin = ada_url.URL(canonicalise(url)).origin
        rules = self._fresh(origin)
        if rules is not None:
            return rules
        lock = self._reading.setdefault(origin, asyncio.Lock())
        try:
            async with lock:  # a caller that is cancelled while reading leaves the reading to the next one
                rules = self._fresh(origin)
                if rules is None:
                    rules = await self._read(origin)
                    self._keep(origin, rules)
                return rules
        finally:
            if not lock.locked() and self._fresh(origin) is not None:
                self._reading.pop(origin, None)

    def _fresh(self, origin: str) -> RobotsRules | None:
        until, rules = self._known.get(origin, (0.0, None))
        return rules if self._clock() < until else None

    def _keep(self, origin: str, rules: RobotsRules) -> None:
        ttl = TTL_S if rules.refusal is None else UNREACHABLE_TTL_S
        self._known[origin] = (self._clock() + ttl, rules)
        self._known.move_to_end(origin)
        while len(self._known) > MAX_ORIGINS:
            self._known.popitem(last=False)

    async def _read(self, origin: str) -> RobotsRules:
        try:
            async with asyncio.timeout(ROBOTS_TIMEOUT_S):
                answer = await self._gate.get(
                    f"{origin}/robots.txt", {"accept": "text/plain,*/*;q=0.1"}, first_bytes=MAX_ROBOTS_BYTES + 1
                )
        except FetchError as error:
            if error.reason is Reason.TOO_MANY_REDIRECTS:
                return RobotsRules(self._token)
            if error.reason in (Reason.BLOCKED_ADDRESS, Reason.DNS_FAILURE):  # the pages themselves have this reason
                return RobotsRules(self._token, refusal=error)
            problem = f"robots.txt of the site cannot be read, so nothing is fetched for now: {error.message}"
            return RobotsRules(self._token, refusal=FetchError(error.reason, problem))
        except TimeoutError:
            problem = "robots.txt of the site does not come in time, so nothing is fetched for now"
            return RobotsRules(self._token, refusal=FetchError(Reason.TIMEOUT, problem))
        if 200 <= answer.status < 300:
            text = _text(answer.body)
            return await asyncio.to_thread(parse_robots, text, self._token)
        if answer.status < 500:
            return RobotsRules(self._token)
        problem = f"robots.txt of the site answers with status {answer.status}, so nothing is fetched for now"
        return RobotsRules(self._token, refusal=FetchError(Reason.ROBOTS_DISALLOWED, problem, status=answer.status))


def _text(body: bytes) -> str:
    if len(body) > MAX_ROBOTS_BYTES:  # half a line could mean something else: "/" is the beginning of every path
        body = body[:MAX_ROBOTS_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body.decode(errors="replace")


class ObedientGate(NetworkGate):
    """A gate that asks robots.txt at every hop, so that no redirect leads where the site wants no crawler."""

    def __init__(
        self,
        settings: Settings,
        robots: Robots,
        *,
        resolver: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """As NetworkGate. Raises InvalidInputError."""
        super().__init__(settings, resolver=resolver, tls=tls)
        self._robots = robots

    async def admit(self, url: str, base: str | None = None) -> Target:
        """As NetworkGate, then robots.txt. Raises FetchError."""
        target = await super().admit(url, base)
        await self._robots.check(target.url)
        return target
