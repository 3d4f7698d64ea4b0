"""Markup, control characters and line ends in all that the web application shows: nothing of it may become markup.

A hostile site is read and asked about; hostile questions, addresses and names go in by every field. Pages are then
parsed as a browser parses them, event streams line by line.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import product
from urllib.parse import quote

import httpx2
from lxml import html as lxml_html

from benchmarks.security.web_attacks import Attack

SITE = "https://hostile.example"
_SCRIPT = "<script>alert(1)</script>"
PAYLOADS = (
    _SCRIPT,
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '" autofocus onfocus="alert(1)',
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</pre></li></ol></main><form action=https://evil.example><button>Log in</button>",
    "<svg/onload=alert(1)>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<a href=javascript:alert(1)>here</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<!--", "]]>", "<![CDATA[", "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "{{ 7 * 7 }}{% for x in [] %}", "${7*7}", "%s%n{0}{request}",
    "\u202eevil\u202c \u2066x\u2069 \u200b\ufeff\u00ad",
    "one\u2028two\u2029three\u0085four",
    "a\r\nb\rc\nd",
    "x\r\n\r\nevent: done\r\ndata: /evil\r\n\r\n",
    "x\ndata: <img src=x onerror=alert(1)>\nid: 99\nevent: done\n\n",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;", "\\u003cscript\\u003e", "%3Cscript%3E",
    "＜script＞alert(1)＜/script＞",
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>",
)  # fmt: skip
_REFUSED = ("iframe", "object", "embed", "base", "style", "applet", "frame", "math", "template", "video", "audio")
_ADDRESSES = ("href", "src", "action", "formaction", "data-events", "poster", "ping", "srcset", "srcdoc", "data")
_HIDDEN = ("Cc", "Cf", "Cs", "Co")


def hostile_site() -> dict[str, str]:
    """Pages by path: each payload in a title, a heading, text, code, a table, a link and its address."""
    pages = {}
    links = "".join(f'<p>See <a href="/p{n}">page {n} on alerts</a>.</p>' for n in range(len(PAYLOADS)))
    for number, payload in enumerate(PAYLOADS):
        safe = html.escape(payload)
        pages[f"/p{number}"] = (
            f"<html><head><title>Alert {number} {safe}</title></head><body><main><h1>Alert {number} {safe}</h1>"
            f"<p>Alert number {number} is raised by {safe} at {number + 20} degrees. It lasts {number + 2} minutes.</p>"
            f"<pre>{safe}</pre><table><tr><th>{safe}</th></tr><tr><td>{safe}</td></tr></table>"
            f'<p><a href="{safe}">{safe}</a> <a href="/x?{safe}">more</a></p></main></body></html>'
        )
    pages["/"] = f"<html><head><title>Alerts</title></head><body><main><h1>Alerts</h1>{links}</main></body></html>"
    return pages


def markup_problems(text: str, *, is_page: bool = True) -> list[str]:
    """What in a page, or in a fragment of one, did not come from a template."""
    problems = []
    tree = lxml_html.document_fromstring(text) if is_page else lxml_html.fragment_fromstring(text, create_parent="div")
    for element in tree.iter():
        if not isinstance(element.tag, str):
            problems.append(f"a comment or instruction: {lxml_html.tostring(element)[:60]!r}")
            continue
        if element.tag in _REFUSED:
            problems.append(f"<{element.tag}>")
        for name, value in element.attrib.items():
            problems += _attribute_problems(element.tag, str(name).lower(), str(value))
        if element.tag == "script" and ((element.text or "").strip() or not is_page):
            problems.append("a script in the page")
    hidden = {
        hex(ord(character))
        for character in text
        if unicodedata.category(character) in _HIDDEN and character not in "\n\t\u200c\u200d"
    }
    hidden |= {hex(ord(item)) for item in "\r\u0085\u2028\u2029" if item in text}
    return problems + ([f"hidden characters {sorted(hidden)}"] if hidden else [])


def _attribute_problems(tag: str, name: str, value: str) -> Iterator[str]:
    if name.startswith("on") or name in ("style", "srcdoc", "formaction"):
        yield f"{name} on <{tag}>"
    if name in _ADDRESSES:
        is_own = value.startswith(("/", "#", "?")) and not value.startswith(("//", "/\\"))
        is_link = tag == "a" and name == "href" and re.match(r"https?://", value)
        if not (is_own or is_link) or re.search(r"[\s<>\"]", value):
            yield f"{name}={value[:60]!r} on <{tag}>"
    if tag == "meta" and name == "http-equiv" and value.lower() != "refresh":
        yield f"meta {value}"
    if tag == "script" and name == "src" and not value.startswith("/static/"):
        yield f"script {value}"


def stream_problems(text: str, names: set[str] | None) -> list[str]:
    """What in a stream of events is none of ours. `names`: those of HTML events; None = all data are JSON."""
    problems = []
    for message in re.split(r"\r\n\r\n", text):
        if not message.strip() or message.startswith(":"):
            continue
        lines = message.split("\r\n")
        strange = [line for line in lines if not re.match(r"(?:id: \d+|event: \w+|data: .*)\Z", line)]
        strange += [line for line in lines if re.search(r"[\r\n\x00]", line)]
        fields = [line.partition(": ")[0] for line in lines]
        if strange or fields.count("event") != 1 or fields.count("id") > 1:
            problems.append(f"lines {[line[:60] for line in (strange or lines)]}")
            continue
        name = next(line for line in lines if line.startswith("event: ")).removeprefix("event: ")
        data = "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
        if names is None:
            json.loads(data)
        elif name not in names:
            problems.append(f"event {name}")
        elif name == "done" and not re.fullmatch(r"/answers/\d+", data):
            problems.append(f"done leads to {data[:60]!r}")
        elif name != "done":
            problems += markup_problems(data, is_page=False) if data.strip() else []
    return problems


_FIELDS = (
    "q",
    "key",
    "url",
    "target",
    "at",
    "source",
    "from",
    "to",
    "since",
    "until",
    "name",
    "next",
    "language",
    "type",
)
_FORMS = (
    *("/login", "/search", "/sources", "/graph", "/history", "/history/at", "/history/diff", "/history/changes"),
    *("/answers", "/pages/1", "/nowhere", "/attach", "/attach/remove", "/conversations", "/gaps", "/watches"),
)
EVENTS = {"status", "sentence", "done", "problem", "phase", "page", "pages", "round", "state"}
"""Names of the events of a page."""


async def markup(client: httpx2.AsyncClient) -> list[Attack]:
    """Ask about the hostile site (which the server's acquirer serves), and look at every page and event."""
    attacks = []

    def note(name: str, problems: list[str]) -> None:
        attacks.append(Attack("markup", name, "; ".join(problems[:3])))

    async def page(name: str, response: httpx2.Response) -> None:
        is_html = response.headers.get("content-type", "").startswith("text/html")
        note(name, markup_problems(response.text) if is_html else [])

    for number, payload in enumerate(PAYLOADS):
        fields = {"question": payload, "url": payload, "source": payload}
        await page(f"form filled in with payload {number}", await client.get("/", params=fields))
        await page(
            f"form refused with payload {number}",
            await client.post("/ask", data={**fields, "question": f"{payload} ?"}),
        )
        for path in ("/attach/look", "/attach", "/attach/keep", "/attach/read", "/watches", "/answers/1/feedback"):
            filled = {
                **fields,
                "name": payload,
                "pages": payload,
                "kind": payload,
                "text": payload,
                "better_url": payload,
            }
            await page(f"{path} sent with payload {number}", await client.post(path, data=filled))
        given = dict.fromkeys(_FIELDS, payload)
        for path in _FORMS:
            await page(f"{path} with payload {number}", await client.get(path, params=given))
        for path, name in product(("/search", "/graph", "/history", "/history/diff", "/history/changes"), _FIELDS[:6]):
            await page(f"{path}, {name} of payload {number}", await client.get(path, params={name: payload}))
        await page(f"source of payload {number}", await client.get(f"/sources/{quote(payload, safe='')}"))
        response = await client.get(f"/{payload.strip('/')}".replace("\r", "%0d").replace("\n", "%0a"))
        await page(f"path of payload {number}", response)
        for path, body in (
            ("/api/ask", {"question": payload, "sources": [payload]}),
            ("/api/search", {"question": payload, "sources": [payload], "flags": [payload]}),
            ("/api/search", {payload: payload}),
            ("/api/answer", {"question": payload, "urls": [payload]}),
        ):
            response = await client.post(path, json=body)
            message = str(response.json().get("error", {}).get("message", ""))
            hidden = [hex(ord(character)) for character in message if unicodedata.category(character) in _HIDDEN]
            note(f"{path}, error about payload {number}", hidden)
    for number in range(0, len(PAYLOADS), 3):
        question = f"What raises alert number {number}, {PAYLOADS[number]}?"
        started = await client.post("/ask", data={"question": question, "url": f"{SITE}/p{number}"})
        if started.status_code != 303:
            await page(f"question with payload {number} refused", started)
            continue
        path = started.headers["location"]
        await page(f"run about payload {number}", await client.get(path))
        note(f"events about payload {number}", stream_problems((await client.get(f"{path}/events")).text, EVENTS))
        ended = await client.get(path)
        if ended.status_code == 303:
            ended = await client.get(ended.headers["location"])
        await page(f"end of the run about payload {number}", ended)
    for number in range(1, len(PAYLOADS), 6):
        body = {"question": f"How long does alert {number} last?", "urls": [f"{SITE}/p{number}"]}
        response = await client.post("/api/ask", json=body, headers={"accept": "text/event-stream"})
        note(f"REST events about payload {number}", stream_problems(response.text, None))
    answers = (await client.get("/api/answers", params={"limit": 100})).json()["answers"]
    for number in [answer["answer_id"] for answer in answers]:
        await page(f"answer {number}", await client.get(f"/answers/{number}"))
        note(f"REST answer {number}", [] if (await client.get(f"/api/answers/{number}")).json() else ["nothing"])
        exported = markup_problems((await client.get(f"/answers/{number}.html")).text)
        for markup in ("<style>", "meta Content-Security-Policy"):  # a file stands alone: once each
            if markup in exported:
                exported.remove(markup)
        note(f"exported answer {number}", exported)
        for cited in range(1, 4):
            response = await client.get(f"/answers/{number}/quotes/{cited}")
            note(f"quote {cited} of answer {number}", markup_problems(response.text, is_page=False))
    for path in ("/", "/answers", "/sources", "/search?q=alert", "/sources/hostile.example", "/graph"):
        await page(path, await client.get(path))
    for number in range(1, len(PAYLOADS)):
        await page(f"stored page {number}", await client.get(f"/pages/{number}", params={"start": 5, "end": 60}))
        address = f"{SITE}/p{number}"
        await page(f"history of page {number}", await client.get("/history", params={"url": address}))
        await page(f"its past, {number}", await client.get("/history/at", params={"url": address, "at": "now"}))
        await page(f"graph of page {number}", await client.get("/graph", params={"key": f"document:{address}"}))
        await page(
            f"search for payload {number}", await client.get("/search", params={"q": f"alert {PAYLOADS[number]}"})
        )
    return attacks
