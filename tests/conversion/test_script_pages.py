"""Pages that scripts build: what they bring along is read, what they do not is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html import escape

import pytest

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.script_pages import FROM_NOSCRIPT, FROM_STATE, WAY_OUT
from webrag_core.errors import FetchError, Reason

FIRST = "A queue holds the tasks that wait for a worker, and hands them out in the order in which they came."
SECOND = "When the queue is full, the producer waits until a worker has taken a task, or gives up after a timeout."
THIRD = "Nothing is lost when a worker dies: the task goes back to the queue, and another worker takes it up again."
TEXTS = (FIRST, SECOND, THIRD)
PARAGRAPHS = "".join(f"<p>{text}</p>" for text in TEXTS)
ARTICLE = {"props": {"pageProps": {"article": {"title": "About queues", "body": PARAGRAPHS}, "locale": "en"}}}
URL = "https://site.example/"


def convert(head: str = "", body: str = "") -> ConvertedPage:
    html = f"<html><head><title>Queues</title>{head}</head><body>{body}</body></html>".encode()
    headers = {"content-type": "text/html; charset=utf-8"}
    return convert_page(AcquiredPage(URL, URL, 200, headers, html, datetime.now(UTC), len(html)))


def island(value: object, attributes: str = 'type="application/json"') -> str:
    return f"<script {attributes}>{json.dumps(value)}</script>"


CONTENTFUL = {
    "nodeType": "document",
    "content": [
        {"nodeType": "heading-2", "content": [{"nodeType": "text", "value": "About queues"}]},
        *(
            {
                "nodeType": "paragraph",
                "content": [{"nodeType": "text", "value": text[:40]}, {"nodeType": "text", "value": text[40:]}],
            }
            for text in TEXTS
        ),
    ],
}
PORTABLE = [
    {"_type": "block", "style": "h2", "children": [{"_type": "span", "text": "About queues"}]},
    *({"_type": "block", "style": "normal", "children": [{"_type": "span", "text": text}]} for text in TEXTS),
]
FLIGHT = '0:["$","div",null,{"children":[' + ",".join(json.dumps(["$", "p", None, {"children": t}]) for t in TEXTS)
STREAM = "".join(
    f"<script>self.__next_f.push({json.dumps([1, part])})</script>" for part in (FLIGHT[:90], FLIGHT[90:] + "]}]\n")
)


@pytest.mark.parametrize(
    "body",
    [
        '<div id="__next"></div>' + island(ARTICLE, 'id="__NEXT_DATA__" type="application/json"'),
        '<div id="app"></div>' + island([{"a": 1}, 3, "About queues", PARAGRAPHS], 'id="__NUXT_DATA__"'),
        f"<script>window.__INITIAL_STATE__ = {json.dumps(ARTICLE)}; window.x = 1;</script>",
        f"<script>window.__NUXT__={json.dumps(ARTICLE)[:-1]},error:null".replace("error", '"error"')
        + ',"next":undefined}</script>',
        f"<script>window['__STATE__']=JSON.parse({json.dumps(json.dumps(ARTICLE))})</script>",
        "<script>window.STATE = JSON.parse('" + json.dumps(ARTICLE).replace("'", "\\'") + "')</script>",
        island({"status": 200, "body": json.dumps(ARTICLE)}, 'type="application/json" data-sveltekit-fetched'),
        f'<div id="app" data-page="{escape(json.dumps(ARTICLE))}"></div>',
        island({"page": {"fields": {"body": CONTENTFUL}}}),
        island({"page": {"content": PORTABLE}}),
        island({"page": {"paragraphs": list(TEXTS)}}),
        STREAM,
        f"<script>self.__next_f.push({json.dumps([1, f'1a:T{len(PARAGRAPHS):x},{PARAGRAPHS}2:[]'])})</script>",
    ],
    ids=[
        "next",
        "nuxt-payload",
        "assigned",
        "undefined",
        "parsed",
        "single-quoted",
        "json-in-json",
        "attribute",
        "contentful",
        "portable-text",
        "plain-strings",
        "react-stream",
        "react-text-row",
    ],
)
def test_text_in_the_state_of_an_empty_page_is_read_and_said(body: str) -> None:
    page = convert(body=body)
    assert [line for line in page.markdown.splitlines() if line in TEXTS] == list(TEXTS)
    assert page.warnings == (FROM_STATE,)
    assert page.title == "Queues"


def test_rich_text_keeps_its_headings() -> None:
    assert "## About queues" in convert(body=island({"page": {"fields": {"body": CONTENTFUL}}})).markdown
    assert "## About queues" in convert(body=island({"page": {"content": PORTABLE}})).markdown
    assert "## About queues" in convert(body=island(ARTICLE)).markdown


def test_links_of_a_page_without_text_are_found() -> None:
    page = convert(body='<a href="/next">Next</a>' + island(ARTICLE))
    assert [link.target_url for link in page.links] == [URL + "next"]


def test_noscript_that_holds_the_content() -> None:
    page = convert(body=f'<div id="app"></div><noscript><h1>About queues</h1>{PARAGRAPHS}</noscript><script></script>')
    assert FIRST in page.markdown
    assert page.warnings == (FROM_NOSCRIPT,)


def test_segments_that_react_streams_stand_in_their_place() -> None:
    page = convert(
        body='<main><h1>About queues</h1><template id="B:0"></template><p>The end.</p></main>'
        f'<div hidden id="S:0">{PARAGRAPHS}</div><script>$RC("B:0","S:0")</script>'
    )
    assert page.markdown == f"# About queues\n\n{FIRST}\n\n{SECOND}\n\n{THIRD}\n\nThe end.\n"
    assert page.warnings == ()


@pytest.mark.parametrize("style", ["visibility:hidden", "opacity: 0; display: none"])
def test_a_wrapper_that_a_script_shows(style: str) -> None:
    assert FIRST in convert(body=f'<div style="{style}">{PARAGRAPHS}</div>').markdown


def test_a_button_that_is_closed_over_an_open_box_does_not_swallow_the_page() -> None:
    page = convert(body=f"<header><button><div><div></button></div></header><main>{PARAGRAPHS}</main>")
    assert FIRST in page.markdown


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><script src="/app.js"></script>',
        '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript><script></script>',
        '<header><a href="/">Home</a> Search</header><div class="x" id=root> </div><script src="/app.js"></script>',
        "<p>Loading the shop</p><app-root></app-root><script src='/main.js'></script>",
        island({"i18n": {"cart": FIRST + SECOND + THIRD}}),
        island({"labels": [FIRST, SECOND, THIRD], "a": "b" * 900}),
        island({"css": "a { color: red; } " * 100, "js": "function () { return 1; }. " * 60}),
        island({"keys": ["one.two.three " * 20] * 9, "url": "https://a.example/b. " * 30}),
        "<script>window.X = function () { return " + json.dumps(PARAGRAPHS) + " }</script>",
        "<script>" + "window.a = {" * 10_000 + "</script>",
        "<script type='application/json'>" + "[" * 100_000 + "</script>",
    ],
    ids=[
        "root",
        "enable",
        "frame",
        "angular",
        "translations",
        "labels",
        "code",
        "keys",
        "function",
        "assignments",
        "nested",
    ],
)
def test_a_shell_is_refused_with_the_way_out(body: str) -> None:
    with pytest.raises(FetchError) as caught:
        convert(body=body)
    assert (caught.value.reason, caught.value.message) == (Reason.NEEDS_SCRIPT, WAY_OUT)
    assert "browser" in WAY_OUT


def test_a_shell_that_asks_for_scripts_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        convert(body="<p>You need to enable JavaScript to run this app.</p><script></script>")
    assert caught.value.reason is Reason.NEEDS_SCRIPT


def test_without_scripts_an_empty_page_is_just_empty() -> None:
    with pytest.raises(FetchError) as caught:
        convert(body="<div> </div>")
    assert caught.value.reason is Reason.EMPTY_PAGE


def test_state_does_not_replace_a_text_or_list_that_the_page_shows() -> None:
    shown = "".join(f"<p>{n} {text}</p>" for n, text in enumerate(TEXTS))
    other = island({"body": "".join(f"<p>Other {text}</p>" for text in TEXTS * 9)})
    assert "Other" not in convert(body=f"<main>{shown}</main>{other}").markdown
    links = "".join(f'<li><a href="/{n}">Headline number {n} of the day</a></li>' for n in range(60))
    assert "Other" not in convert(body=f"<ul>{links}</ul>{other}").markdown


@pytest.mark.slow
def test_the_reading_of_state_is_bounded() -> None:
    with pytest.raises(FetchError):
        convert(body=island([[]] * 300_000 + [PARAGRAPHS]))
    with pytest.raises(FetchError):
        convert(body=island(ARTICLE) + " " * 6_000_000)
