"""Links that lead to no page of their own."""

from __future__ import annotations

import pytest

from webrag_core.acquisition.variants import is_download, is_other_language, is_print_view, is_unread_file

SITE = "https://site.example"


@pytest.mark.parametrize(
    ("path", "download"),
    [
        ("/files/tide.zip", True),
        ("/wiki/Node.js", False),
        ("/TIDE.TAR.GZ", True),
        ("/picture.svg?size=2", True),
        ("/guide.html", False),
        ("/guide.pdf", False),
        ("/v1.2/", False),
        ("/release-3.11", False),
        ("/zip", False),
        ("/", False),
    ],
)
def test_downloads_are_known_by_their_ending(path: str, download: bool) -> None:
    assert is_download(f"{SITE}{path}") == download


@pytest.mark.parametrize(
    ("path", "unread"),
    [
        ("/pictures/a.PNG", True),
        ("/files/tide.zip", True),
        ("/wiki/File:Tide.png", False),
        ("/show.png?page=view", False),
        ("/sheet.xlsx", False),
        ("/data.json", False),
        ("/guide.html", False),
        ("/png", False),
    ],
)
def test_files_without_text_are_known_by_their_ending(path: str, unread: bool) -> None:
    assert is_unread_file(f"{SITE}{path}") == unread


@pytest.mark.parametrize(
    ("path", "printed"),
    [
        ("/a?print=1", True),
        ("/a?print=0", False),
        ("/a/print/", True),
        ("/printing.html", False),
        ("/a?p=print", False),
    ],
)
def test_print_views(path: str, printed: bool) -> None:
    assert is_print_view(f"{SITE}{path}") == printed


@pytest.mark.parametrize(
    ("path", "page", "other"),
    [
        ("/de/tides.html", "/en/tides.html", True),
        ("/de/harbours.html", "/en/tides.html", True),
        ("/en/harbours.html", "/en/tides.html", False),
        ("/pt-br/tides", "/pt/tides", True),
        ("/de/tides.html", "/tides.html", True),
        ("/tides.html", "/de/tides.html", True),
        ("/it/harbours.html", "/tides.html", False),
        ("/tides.de.html", "/tides.en.html", True),
        ("/tides.de.html", "/tides.html", True),
        ("/tides?lang=fr", "/tides?lang=en", True),
        ("/tides?lang=fr", "/tides", True),
        ("/docs/is/here", "/docs/en/here", True),
        ("/docs/xx/here", "/docs/en/here", False),
        ("/harbours.html", "/tides.html", False),
    ],
)
def test_other_languages_of_the_page_at_hand(path: str, page: str, other: bool) -> None:
    assert is_other_language(f"{SITE}{path}", f"{SITE}{page}") == other
