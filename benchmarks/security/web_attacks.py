"""Requests that a foreign page, a thief or a vandal would send to the web application, and how it must answer them.

Each function takes a client of the application and returns its attacks: `tests/web/test_attacks.py` runs some of them
within the process, `benchmarks.security.web_pages` all of them against a real server. `Watch` looks at every response.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from urllib.parse import quote

import ada_url
import httpx2

TOKEN = "correct-horse-battery-staple"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
Pairs = Sequence[tuple[str, str]]

STARTS = (
    ("POST", "/ask", FORM, b"question=Who+attacks%3F"),
    ("POST", "/running/abc/stop", FORM, b""),
    ("POST", "/login", FORM, b"token=guess"),
    ("POST", "/logout", FORM, b""),
    ("POST", "/attach", FORM, b"url=https%3A%2F%2Fsite.example%2F"),
    ("POST", "/attach/look", FORM, b"url=https%3A%2F%2Fsite.example%2F"),
    *(
        ("POST", f"/attach/{what}", FORM, b"source=site.example")
        for what in ("keep", "read", "stop", "pause", "remove")
    ),
    ("POST", "/answers/1/feedback", FORM, b"kind=wrong"),
    ("POST", "/watches", FORM, b"question=Who+attacks%3F"),
    ("POST", "/watches/1/remove", FORM, b""),
    ("POST", "/api/watches", JSON, b'{"question": "Who attacks?"}'),
    ("POST", "/api/sources", JSON, b'{"url": "https://site.example/"}'),
    ("POST", "/api/sources/preview", JSON, b'{"url": "https://site.example/"}'),
    *(("POST", f"/api/sources/{what}", JSON, b'{"source": "site.example"}') for what in ("refresh", "stop", "pause")),
    ("POST", "/commands/run", JSON, b'{"arguments": ["search", "attack"]}'),
    ("POST", "/api/ask", JSON, b'{"question": "Who attacks?"}'),
    ("POST", "/api/answer", JSON, b'{"question": "Who attacks?", "urls": ["https://site.example/"]}'),
    ("POST", "/api/search", JSON, b'{"question": "attack"}'),
    ("POST", "/api/feedback", JSON, b'{"answer": 1, "kind": "wrong"}'),
    ("POST", "/mcp", JSON, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
)
"""What does something: method, path, type and body."""
_SHOWN = ("/login", "/attach", "/attach/remove", "/watches", "/api/watches", "/api/sources")
"""Paths that show a form or a list when they are read."""
_REMOVES = ("DELETE", "/api/sources", 400)
"""What removes a source, which nothing names here."""
READS = ("/api/answers", "/api/answers/1", "/api/status", "/api/openapi.json", "/mcp")
PAGES = (
    *("/", "/answers", "/answers/1", "/answers/1.md", "/answers/1/quotes/1", "/running/abc", "/running/abc/events"),
    *("/search?q=tea", "/sources", "/sources/site.example", "/graph", "/pages/1", "/login", "/static/style.css"),
    *("/conversations", "/gaps", "/watches", "/attach", "/attach/remove?source=x", "/attach/events?source=x"),
    *("/answers/1.bib", "/answers/1.ris", "/answers/1.csl.json", "/api/conversations", "/api/gaps", "/commands/run"),
    *("/history?url=site.example", "/history/at?url=site.example", "/history/diff?url=x", "/history/changes?target=x"),
)


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack. `through` says what it achieved; empty when it was held."""

    group: str
    name: str
    through: str


@dataclass(slots=True)
class Watch:
    """Every response of a client: what it must have, must not have, and must not say."""

    secrets: Sequence[str]
    responses: int = 0
    problems: list[str] = field(default_factory=list)

    async def __call__(self, response: httpx2.Response) -> None:
        """As an event hook of the client."""
        self.responses += 1
        headers = response.headers
        request = response.request
        name = f"{request.method} {str(request.url)[:80]} {response.status_code}"
        if response.status_code == 400 and headers.get("content-security-policy") is None:
            return  # the web server's own, before any application: a constant
        wanted = {
            "content-security-policy": "default-src 'none'",
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }
        for header, value in wanted.items():
            if value not in headers.get(header, ""):
                self.problems.append(f"{name}: no {header}")
        policy = headers.get("content-security-policy", "")
        if "unsafe" in policy or "*" in policy or "frame-ancestors 'none'" not in policy:
            self.problems.append(f"{name}: {policy}")
        if any(header.startswith("access-control-") or header.startswith("x-injected") for header in headers):
            self.problems.append(f"{name}: a foreign origin is let in, or a header came from outside")
        is_file = request.url.path.startswith("/static/") and response.status_code in (200, 304)
        caching = headers.get("cache-control", "")
        if not is_file and not ("no-store" in caching or request.url.path == "/mcp"):
            self.problems.append(f"{name}: may be cached ({caching})")
        for cookie in headers.get_list("set-cookie"):
            flags = {part.strip().lower() for part in cookie.split(";")[1:]}
            ends = "max-age=0" in flags
            if not ({"httponly", "samesite=strict", "path=/"} <= flags or ends):
                self.problems.append(f"{name}: cookie {sorted(flags)}")
        if response.status_code >= 500 and response.status_code != 503:
            self.problems.append(f"{name}: the server failed")
        if headers.get("content-type", "").startswith("text/event-stream"):
            return
        await response.aread()
        text = f"{response.text} {headers.raw!r}"
        leaks = [secret for secret in self.secrets if secret in text and secret not in str(request.url)]
        if leaks or "Traceback" in response.text or 'File "' in response.text:
            self.problems.append(f"{name}: says {leaks or 'how it is made'}")


def foreign_senders(authority: str) -> dict[str, Pairs]:
    """Headers with which a browser or a rebound name would send, by name; `authority` is the server's own."""
    host = authority.partition(":")[0]
    navigating = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"), ("sec-fetch-site", "cross-site")]
    return {
        "other site": [("origin", "https://evil.example")],
        "no origin (sandbox, redirect)": [("origin", "null")],
        "empty origin": [("origin", "")],
        "other port": [("origin", f"http://{host}:1")],
        "no port": [("origin", f"http://{host}")],
        "own name before": [("origin", f"http://{authority}.evil.example")],
        "own name as user": [("origin", f"http://{authority}@evil.example")],
        "own name in the path": [("origin", f"http://evil.example/http://{authority}")],
        "two origins": [("origin", f"http://{authority}"), ("origin", "https://evil.example")],
        "extension": [("origin", "chrome-extension://abcdefghijklmnop")],
        "fetch": [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")],
        "same site, other origin": [("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
        "image": [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        "frame": [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
        "form that navigates": [*navigating, ("origin", "https://evil.example")],
        "form without an origin": navigating,
        "own origin, foreign site": [("origin", f"http://{authority}"), ("sec-fetch-site", "cross-site")],
        "rebound name": [("host", "evil.example")],
        "rebound name and port": [("host", f"evil.example:{authority.partition(':')[2]}")],
        "rebound name and origin": [("host", "evil.example"), ("origin", "http://evil.example")],
        "own name before, as host": [("host", f"{authority}.evil.example")],
        "other port, as host": [("host", f"{host}:1")],
    }


async def cross_site(client: httpx2.AsyncClient) -> list[Attack]:
    """What a foreign page sends: whatever it is, it starts nothing and reads nothing."""
    authority = client.base_url.netloc.decode()
    attacks = []
    requests = [*STARTS, *(("GET", path, "", b"") for path in (*READS, *PAGES))]
    for (method, path, kind, body), (sender, headers) in product(requests, foreign_senders(authority).items()):
        if sender == "form without an origin" and method == "GET" and path in PAGES:
            continue  # a link that a person follows
        sent = [*headers, *([("content-type", kind)] if kind else [])]
        response = await client.request(method, path, content=body, headers=sent)
        held = response.status_code in (403, 421)
        attacks.append(
            Attack("foreign page", f"{method} {path}, {sender}", "" if held else f"status {response.status_code}")
        )
    return attacks


async def methods(client: httpx2.AsyncClient) -> list[Attack]:
    """GET starts nothing, and no method does what another one is for."""
    attacks = []
    queries = ("", "?question=Who&url=https://site.example/", f"?token={TOKEN}&next=/")
    for (_, path, _, _), method, query in product(STARTS, ("GET", "HEAD"), queries):
        response = await client.request(method, path + query)
        held = response.status_code in (400, 404, 405, 406, 401)
        held |= path in _SHOWN and "set-cookie" not in response.headers
        attacks.append(Attack("methods", f"{method} {path}{query}", "" if held else f"status {response.status_code}"))
    paths = [path for path in (*(start[1] for start in STARTS), *READS, *PAGES) if path != "/mcp"]
    for path, method in product(paths, ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "GETPOST")):
        headers = {"origin": _base(client), "access-control-request-method": "POST"}
        response = await client.request(method, path, headers=headers)
        held = response.status_code in (404, 405) or (method, path, response.status_code) == _REMOVES
        attacks.append(Attack("methods", f"{method} {path}", "" if held else f"status {response.status_code}"))
    for path in ("/ask", "/login", "/api/ask"):
        for header in ("x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"):
            response = await client.get(path if "method" in header else "/login", headers={header: "POST /ask"})
            held = response.status_code in (200, 404, 405)
            attacks.append(Attack("methods", f"{header} {path}", "" if held else f"status {response.status_code}"))
    return attacks


_FILES = ("etc/passwd", "webrag_core/web/app.py", "app.py", "../web/app.py", "templates/login.html.j2", ".env")
_CLIMBS = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..\\",
    "..%5c",
    "%252e%252e%252f",
    "..;/",
    "....//",
    ".%00./",
    "..%c0%af",
)
_INNARDS = re.compile(r"root:|def |{%|DATABASE_URL|import ")


async def paths(client: httpx2.AsyncClient) -> list[Attack]:
    """Ways out of the folder of static files, and paths that no router expects."""
    attacks = []
    addresses = [f"/static/{climb * depth}{file}" for climb, file, depth in product(_CLIMBS, _FILES, (1, 4))]
    addresses += [f"/static//{file}" for file in ("etc/passwd", "/etc/passwd", "%2fetc%2fpasswd")]
    addresses += [
        "/static/",
        "/static",
        "/static/.",
        "/static/%00",
        "/static/style.css%00.png",
        f"/static/{'a' * 2_000}",
    ]
    addresses += [f"/answers/{'9' * digits}" for digits in (20, 400, 2_000, 5_000, 20_000)]
    addresses += [f"/pages/{'9' * digits}" for digits in (9, 10, 20, 2_000, 5_000)]
    addresses += [f"/pages/1?{name}={'9' * digits}" for name in ("start", "end", "from") for digits in (20, 5_000)]
    addresses += [
        f"/{name}?page={'9' * digits}" for name in ("search", "sources", "answers") for digits in (5, 20, 5_000)
    ]
    addresses += [f"/history/diff?url=site.example&from={'9' * digits}&to=-1" for digits in (5, 20, 5_000)]
    addresses += [f"/answers/1/quotes/{'9' * digits}" for digits in (20, 2_000)]
    addresses += ["/answers/1.%2e%2e%2fx", "/answers/1.md%00", "/answers/1.exe", "/sources/..%2f..%2fetc%2fpasswd"]
    addresses += [f"/api/answers/{'9' * digits}" for digits in (20, 400, 2_000, 5_000, 20_000)]
    addresses += ["/answers/-1", "/answers/1.5", "/answers/١", "/answers/%00", "/running/%0d%0ax-injected:1", "/%ff%fe"]
    addresses += [
        "/running/../answers",
        "//evil.example/",
        "/\\evil.example",
        "/.git/config",
        "/.env",
        "/api/../answers/0",
    ]
    addresses += [
        f"/{'a/' * 1_000}",
        f"/api/{'%0d%0ax-injected:%201' * 10}",
        "/api/answers/1/",
        "/answers/1/",
        "/api//status",
    ]
    for address in addresses:
        try:
            response = await client.get(f"{_base(client)}{address}")
        except httpx2.InvalidURL:
            continue
        except httpx2.RemoteProtocolError:
            attacks.append(Attack("paths", address[:80], "the connection broke"))
            continue
        bad = "" if response.status_code in (200, 303, 307, 400, 404, 414) else f"status {response.status_code}"
        if response.status_code == 200 and address.startswith("/static") and _INNARDS.search(response.text):
            bad = f"read {response.text[:40]!r}"
        location = response.headers.get("location", "")
        if location and _host_of(location, client) != client.base_url.host:
            bad = f"leads to {location}"
        attacks.append(Attack("paths", address[:80], bad))
    return attacks


def _base(client: httpx2.AsyncClient) -> str:
    return str(client.base_url).rstrip("/")


def _host_of(location: str, client: httpx2.AsyncClient) -> str:
    """The host that a browser goes to, by its own rules for addresses."""
    return str(ada_url.URL(location, str(client.base_url)).hostname)


_CHARSETS = ("utf-16", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined", "utf-7", "hex", "zlib")


async def bodies(client: httpx2.AsyncClient) -> list[Attack]:
    """Bodies that are too large, of another kind, or made to break a parser."""
    attacks = []

    async def sent(name: str, path: str, content: bytes | Sequence[bytes], kind: str, *expected: int) -> None:
        async def pieces() -> object:
            for piece in content:
                yield piece

        body = content if isinstance(content, bytes) else pieces()
        try:
            response = await client.post(path, content=body, headers={"content-type": kind})  # type: ignore[arg-type]
            status = response.status_code
        except (httpx2.WriteError, httpx2.RemoteProtocolError, httpx2.ReadError):
            status = 413  # refused while it was still being sent
        attacks.append(Attack("bodies", f"{name} to {path}", "" if status in expected else f"status {status}"))

    for path in ("/login", "/ask"):
        await sent("10 MB with length", path, b"a=" + b"b" * 10_000_000, FORM, 413)
        await sent("10 MB without length", path, [b"b" * 100_000] * 100, FORM, 413)
        await sent("20,000 fields", path, b"a&" * 20_000, FORM, 400)
        await sent("20,000 escapes", path, b"question=" + b"%zz" * 20_000, FORM, 303, 400, 422)
        await sent("JSON", path, b'{"token": "x"}', JSON, 303, 400, 415)
        await sent("text", path, b"token=x", "text/plain", 303, 400, 415)
        for charset in _CHARSETS:
            part = (
                b'--x\r\nContent-Disposition: form-data; name="question"\r\n\r\n\\ud800' + b"a" * 60_000 + b"\r\n--x--"
            )
            await sent(
                f"multipart in {charset}", path, part, f"multipart/form-data; boundary=x; charset={charset}", 415
            )
        await sent("NUL and surrogates", path, b"question=%00%ed%a0%80&token=%00&next=%00", FORM, 303, 400, 422)
    for path in ("/api/ask", "/api/search", "/api/answer", "/api/feedback"):
        await sent("10 MB with length", path, b" " * 10_000_000, JSON, 413)
        await sent("10 MB without length", path, [b" " * 100_000] * 100, JSON, 413)
        await sent("100,000 brackets", path, b"[" * 100_000, JSON, 400)
        await sent("100,000 nested objects", path, b'{"a":' * 100_000, JSON, 400)
        await sent("100,000 keys", path, b'{"a": 0' + b"".join(b',"%d":0' % n for n in range(80_000)) + b"}", JSON, 400)
        await sent("a number of 100,000 digits", path, b'{"answer": ' + b"9" * 100_000 + b"}", JSON, 400, 403)
        for name, broken in (
            ("nothing", b""),
            ("null", b"null"),
            ("a list", b"[]"),
            ("not a number", b'{"question": NaN, "answer": NaN, "kind": NaN}'),
            ("UTF-16", '{"question": "x"}'.encode("utf-16")),
            ("broken UTF-8", b'{"question": "\xff\xfe"}'),
            ("a lone surrogate", b'{"question": "\\ud800"}'),
            ("NUL", b'{"question": "\\u0000"}'),
            ("a prototype", b'{"__proto__": {"x": 1}, "constructor": 1}'),
            ("a form", b"question=x"),
            ("gzip", b"\x1f\x8b\x08\x00\x00"),
        ):
            await sent(name, path, broken, JSON, 400, 403, 422)
        for kind in ("text/plain", FORM, "multipart/form-data; boundary=x", "", "text/plain; application/json"):
            await sent(f"as {kind or 'nothing'}", path, b'{"question": "x"}', kind, 415)
    return attacks


REDIRECTS = (
    "https://evil.example",
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r/evil.example",
    "\t//evil.example",
    " //evil.example",
    "\u00a0//evil.example",
    "\ufeff//evil.example",
    "/\u200b/evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/%2f/evil.example",
    "/%5cevil.example",
    "/%09/evil.example",
    "%2f%2fevil.example",
    "http:evil.example",
    "https:/evil.example",
    "http:\\\\evil.example",
    "evil.example",
    "@evil.example",
    ":@evil.example",
    ".evil.example",
    "/@evil.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "/answers\r\nx-injected: 1",
    "/answers\r\n\r\n<script>alert(1)</script>",
    "/%0d%0ax-injected:1",
    "／／evil.example",
    "/／evil.example",
    "/⁄evil.example",
    "/。evil.example",
    "?next=//evil.example",
    "#//evil.example",
    "",
)
"""Values of `next` that lead, or once led, browsers to another server."""


async def redirects(client: httpx2.AsyncClient) -> list[Attack]:
    """Log in with each `next`: a browser must stay on the server. `client` is of one with TOKEN."""
    attacks = []
    host = client.base_url.host
    for target in REDIRECTS:
        response = await client.post("/login", data={"token": TOKEN, "next": target})
        location = response.headers.get("location", "")
        left = not location.startswith("/") or _host_of(location, client) != host
        attacks.append(Attack("redirects", f"log in, {target!r}", f"leads to {location}" if left else ""))
        shown = await client.get("/login", params={"next": target})
        value = re.search(r'name="next" value="([^"]*)"', shown.text)
        kept = value is None or not value[1].startswith("/") or _host_of(value[1], client) != host
        attacks.append(Attack("redirects", f"form, {target!r}", f"holds {value and value[1]}" if kept else ""))
        client.cookies.clear()
        for address in (f"/{quote(target)}", f"//evil.example/{quote(target)}"):
            response = await client.get(f"{_base(client)}{address}")
            location = response.headers.get("location", "")
            left = bool(location) and _host_of(location, client) != host
            attacks.append(Attack("redirects", f"asked for {address[:60]}", f"leads to {location}" if left else ""))
    return attacks


async def tokens(client: httpx2.AsyncClient) -> list[Attack]:
    """Without the token, by every way that it could be guessed to go. `client` is of a server with TOKEN."""
    attacks = []

    def note(name: str, response: httpx2.Response, *held: int) -> None:
        through = "" if response.status_code in held else f"status {response.status_code}"
        attacks.append(Attack("token", name, through))

    requests = [*STARTS, *(("GET", path, "", b"") for path in (*READS, *PAGES))]
    open_paths = {"/login", "/static/style.css"}
    bearers = ("", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"bearer {TOKEN}", f"Basic {TOKEN}", TOKEN)
    for method, path, kind, body in requests:
        if path in open_paths:
            continue
        for bearer in bearers:
            headers = {"content-type": kind, **({"authorization": bearer} if bearer else {})}
            note(
                f"{method} {path}, {bearer!r}",
                await client.request(method, path, content=body, headers=headers),
                401,
                303,
            )
        wrong = (f"?token={TOKEN}x", f"?token={TOKEN[:-1]}", f"?token=x&token={TOKEN}")
        # the right one opens a session to people and the tools to models, and nothing else
        is_door = path == "/mcp" or (method == "GET" and not path.startswith("/api"))
        right = () if is_door else (f"?token={TOKEN}",)
        for query in (*wrong, *right, f"?access_token={TOKEN}", f"?authorization=Bearer%20{TOKEN}"):
            address = path + (query if "?" not in path else query.replace("?", "&"))
            note(f"{method} {address}", await client.request(method, address, content=body), 401, 303)
        twice = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")]
        note(f"{method} {path}, two bearers", await client.request(method, path, content=body, headers=twice), 401, 303)
        for cookie in ("", "x", TOKEN, f"{TOKEN}; webrag_session=x", "0" * 5_000, "../../x", "null"):
            headers = {"cookie": f"webrag_session={cookie}"}
            response = await client.request(method, path, content=body, headers=headers)
            note(f"{method} {path}, cookie {cookie[:20]!r}", response, 401, 303)
    for path in (
        "/static/../answers",
        "/static/..%2fanswers",
        "/STATIC/x",
        "/login/../answers",
        "/login/",
        "/health/../answers",
    ):
        response = await client.get(path)
        note(f"GET {path} as an open one", response, 303, 401, 404)
    attacks += await _sessions(client)
    return attacks


async def _sessions(client: httpx2.AsyncClient) -> list[Attack]:
    """Fixed, stolen and ended sessions."""
    attacks = []

    def note(name: str, through: object) -> None:
        attacks.append(Attack("sessions", name, str(through) if through else ""))

    client.cookies.clear()
    fixed = {"cookie": "webrag_session=chosen-by-the-attacker"}
    response = await client.post("/login", data={"token": TOKEN}, headers=fixed)
    value = response.cookies.get("webrag_session") or ""
    note("a session that an attacker chose", "chosen" in value or len(value) < 40)
    client.cookies.clear()
    note("and its value afterwards", (await client.get("/api/status", headers=fixed)).status_code != 401)
    note("the token in the cookie", TOKEN in str(response.headers.raw))
    cookie = {"cookie": f"webrag_session={value}"}
    wrong = {**cookie, "authorization": "Bearer wrong-wrong-wrong-wrong"}
    note("a wrong bearer beside a session", (await client.get("/api/openapi.json", headers=wrong)).status_code != 401)
    for spelled in (value.upper(), value[:-1], f"{value}=", f" {value}x"):
        headers = {"cookie": f"webrag_session={spelled}"}
        note("a session misspelt", (await client.get("/api/openapi.json", headers=headers)).status_code != 401)
    secure = await client.post(
        "/login", data={"token": TOKEN}, headers={"host": "rag.example", "origin": "https://rag.example"}
    )
    note("a cookie that is not Secure behind TLS", "Secure" not in secure.headers.get("set-cookie", ""))
    note("log out by GET", (await client.get("/logout", headers=cookie)).status_code != 405)
    note("the session is there", (await client.get("/api/openapi.json", headers=cookie)).status_code != 200)
    foreign = {**cookie, "origin": "https://evil.example"}
    note("log out from elsewhere", (await client.post("/logout", headers=foreign)).status_code != 403)
    await client.post("/logout", headers=cookie)
    note("a session after its end", (await client.get("/api/openapi.json", headers=cookie)).status_code != 401)
    client.cookies.clear()
    return attacks
