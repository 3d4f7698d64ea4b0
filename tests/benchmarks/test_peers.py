"""What the bench of peers and a peer's process say to each other, and what counts as an answer."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest

from benchmarks.peers.lines import Page, Passage, Stored, serve
from benchmarks.peers.sites import Question
from evals.answers.keys import AnswerKey


class _Words:
    """A peer that brings the pages which hold the question."""

    def __init__(self) -> None:
        self.pages: list[Page] = []

    def store(self, pages: Sequence[Page]) -> Stored:
        """Keep them, and print something that is no reply."""
        print("storing")
        self.pages = list(pages)
        return Stored(passages=len(pages), file_bytes=0)

    def first_passages(self, question: str, count: int) -> list[Passage]:
        """Those with the question in their text."""
        hits = [page for page in self.pages if question in page["content"]]
        return [Passage(url=page["url"], text=page["content"]) for page in hits[:count]]


def test_a_peer_replies_once_to_all_pages_and_to_each_question(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [Page(url=f"/{word}", content=word, is_text=True) for word in ("store", "ask\u2028again")]
    sent = [*pages, "store", "store", "again"]
    replies = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(json.dumps(message) + "\n" for message in sent)))
    monkeypatch.setattr("sys.stdout", replies)
    serve(_Words())
    stored, first, second = [json.loads(line) for line in replies.getvalue().splitlines()]
    assert stored == {"passages": 2, "file_bytes": 0}
    assert [passage["url"] for passage in first["passages"]] == ["/store"]
    assert second["passages"] == [{"url": "/ask\u2028again", "text": "ask\u2028again"}]


def test_a_page_answers_on_its_own_host_alone_and_facts_in_any_wording() -> None:
    key = AnswerKey.model_validate(
        {
            "id": "a",
            "site": "s",
            "kind": "value",
            "q": "?",
            "answerable": True,
            "must": [["2097152", "2 MiB"], ["POST"]],
        }
        | {"page": "/docs/http.html"}
    )
    question = Question("programming", key, frozenset({"a.example"}))
    assert question.is_answered_on("http://a.example/docs/http.html#size")
    assert not question.is_answered_on("http://b.example/docs/http.html")
    assert question.facts_stand_in(["at most 2 MiB", "of a POST"])
    assert not question.facts_stand_in(["at most 2 MiB"])
