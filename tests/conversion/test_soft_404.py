"""Answers with status 200 that are no page: told from real pages, also from those about missing pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.conversion.lookalike_pages import REAL, SHELLS
from tests.conversion.not_found_pages import MISSING, html
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.soft_404 import MAX_WORDS, says_not_found
from webrag_core.corpus.replacement import redirected_to_front_page, shrinks_drastically
from webrag_core.errors import FetchError, Reason
from webrag_core.language.word_count import word_count

URL = "https://example.org/docs/old.html"
SENTENCE = "Here follows what the page has to say about its matter, at length. "


def convert(body: str, media_type: str = "text/html") -> ConvertedPage:
    answer = AcquiredPage(
        url=URL,
        final_url=URL,
        status=200,
        headers={"content-type": f"{media_type}; charset=utf-8"},
        body=body.encode(),
        fetched_at=datetime.now(UTC),
        bytes_raw=len(body),
    )
    return convert_page(answer)


def refusal(body: str, media_type: str = "text/html") -> Reason:
    with pytest.raises(FetchError) as caught:
        convert(body, media_type)
    return caught.value.reason


@pytest.mark.parametrize("maker", MISSING)
def test_a_page_that_says_it_does_not_exist_is_refused(maker: str) -> None:
    assert refusal(MISSING[maker]) is Reason.SOFT_404


@pytest.mark.parametrize("kind", REAL)
def test_a_page_about_missing_pages_is_a_page(kind: str) -> None:
    assert convert(REAL[kind]).markdown


@pytest.mark.parametrize("maker", SHELLS)
def test_a_shell_that_only_a_script_fills_is_said_to_be_one(maker: str) -> None:
    assert refusal(SHELLS[maker]) is Reason.NEEDS_SCRIPT


@pytest.mark.parametrize("maker", ["docusaurus", "german", "japanese"])
def test_a_message_above_a_whole_text_is_a_page(maker: str) -> None:
    text = SENTENCE * (MAX_WORDS // word_count(SENTENCE) + 1)
    assert convert(MISSING[maker].replace("</main>", f"<p>{text}</p></main>")).markdown


def test_text_that_is_linked_elsewhere_is_not_the_pages_own() -> None:
    listed = "".join(f'<li><a href="/post/{n}">{SENTENCE}</a></li>' for n in range(40))
    assert refusal(MISSING["wordpress"].replace("</ul>", f"{listed}</ul>")) is Reason.SOFT_404


def test_one_sign_alone_is_not_enough() -> None:
    headline = "<h1>Page not found</h1>"
    neutral = (
        "<p>The museum keeps a leaf of the manuscript that nobody has read in full since the year it came here.</p>"
    )
    statement = (
        "<p>Sorry, the page you are looking for does not exist. It was lost in the fire together with the rest.</p>"
    )
    assert convert(html("Page not found", headline + neutral)).markdown
    assert convert(html("The last leaf", "<h1>The last leaf</h1>" + statement)).markdown
    assert refusal(html("Page not found", headline + statement)) is Reason.SOFT_404


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("404 page not found\n", "text/plain"),
        ("404: Not Found", "text/plain"),
        ("# Page Not Found\n\nWe could not find what you were looking for.\n", "text/markdown"),
    ],
)
def test_plain_text_and_markdown_answers_too(text: str, media_type: str) -> None:
    assert refusal(text, media_type) is Reason.SOFT_404


def test_a_long_answer_is_decided_at_once() -> None:
    """Patterns that go back over the text would take minutes."""
    for unit in ("the page you ", "we ", "[", "you requested page ", "link you x ", '"', "requested url a "):
        page = ConvertedPage("# 404\n\n" + unit * (29_000 // len(unit)), "404", None, None, None, None, ())
        assert says_not_found(page) is not any(map(str.isalpha, unit))  # marks alone are no text


def test_words_of_scripts_without_spaces_are_counted() -> None:
    assert word_count("two words, and 3 more") == 5
    assert word_count("页面" * 100) >= 100


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (2_000, 49, True),
        (2_000, 0, True),
        (100, 4, True),
        (2_000, 50, False),
        (980, 49, False),
        (981, 49, True),
        (100, 5, False),
        (0, 0, False),
        (10, 40, False),
    ],
)
def test_a_text_that_shrinks_to_nothing(old: int, new: int, lost: bool) -> None:
    assert shrinks_drastically(old, new) is lost


@pytest.mark.parametrize(
    ("asked", "final", "expected"),
    [
        ("https://example.org/docs/a.html", "https://example.org/", True),
        ("https://example.org/docs/a.html", "https://www.example.org/index.html", True),
        ("https://example.org/docs/a.html", "https://new.example.com/", True),
        ("https://example.org/docs/a.html", "https://example.org/?from=/docs/a.html", True),
        ("https://example.org/docs/a.html", "https://example.org/en/", True),
        ("https://example.org/docs/a.html", "https://example.org/pt-BR", True),
        ("https://example.org/docs/a.html", "https://example.org/zh_Hans/index.php", True),
        ("https://example.org/docs/a.html", "https://example.org/login", True),
        ("https://example.org/docs/a.html", "https://example.org/users/sign_in", True),
        ("https://example.org/docs/a.html", "https://example.org/wp-login.php?redirect_to=x", True),
        ("https://example.org/docs/a.html", "https://id.example.org/realms/main/auth/login?next=%2Fdocs", True),
        ("https://example.org/docs/a.html", "https://example.org/wiki/Special:UserLogin", True),
        ("https://example.org/docs/a.html", "https://example.org/docs/api/auth/login", False),
        ("https://example.org/docs/a.html", "https://example.org/docs/b.html", False),
        ("https://example.org/docs/a.html", "https://example.org/go/", False),
        ("https://example.org/docs/a.html", "https://example.org/docs/", False),
        ("https://example.org/docs/a.html", "https://example.org/docs/a.html", False),
        ("https://example.org/", "https://example.org/en/", False),
        ("https://example.org/index.html", "https://example.org/", False),
        ("https://example.org/de/", "https://example.org/", False),
        ("https://example.org/old/login", "https://example.org/login", False),
    ],
)
def test_what_is_sent_to_the_front_page(asked: str, final: str, expected: bool) -> None:
    assert redirected_to_front_page(asked, final) is expected
