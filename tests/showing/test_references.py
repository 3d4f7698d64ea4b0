"""The pages of an answer as references: whatever a page calls itself, it stays a value of its field."""

from __future__ import annotations

import json
import re

from tests.showing.test_page import silent
from tests.showing.test_passage import cited
from webrag_core.answering.models import Answer, Highlight, Listed
from webrag_core.showing.references import bibtex, csl_json, reference_key, references, ris

TITLE = "Tea } @online{evil,\n title = {x}} & 100 % of $1 \\input{/etc/passwd}\r\nER  - \r\nTY  - BOOK"


def answer_of(title: str, url: str = "https://tea.example/a_b?c={d}#e") -> Answer:
    """An answer with two quotes of a page of this title."""
    quote = "Green tea is brewed\nat 80 degrees."
    first = cited(quote).model_copy(update={"title": title, "url": url, "number": 1})
    second = first.model_copy(update={"number": 2, "quote": "Boiling water makes it bitter."})
    listed = [Listed(group="Passages", label="", citation=number) for number in (1, 2)]
    answer = silent(first, [])
    return answer.model_copy(update={"citations": [first, second], "listed": listed, "answer_id": 7})


def test_quotes_of_one_page_are_one_reference() -> None:
    (reference,) = references(answer_of("Tea"))
    assert reference.quotes == ["Green tea is brewed at 80 degrees.", "Boiling water makes it bitter."]
    (item,) = json.loads(csl_json(answer_of("Tea")))
    assert (item["id"], item["type"], item["title"]) == (reference.key, "webpage", "Tea")
    assert "archive_location" not in item
    assert [len(part) for part in item["accessed"]["date-parts"]] == [3]
    assert "“Boiling water makes it bitter.”" in item["note"]


def test_passages_near_the_question_are_no_references_but_a_likely_one_is() -> None:
    shown = answer_of("Tea").model_copy(update={"listed": []})
    assert references(shown) == []
    assert (bibtex(shown), ris(shown), json.loads(csl_json(shown))) == ("", "", [])
    likely = [Highlight(citation=2, marks=[], likely=True), Highlight(citation=1, marks=[])]
    (reference,) = references(shown.model_copy(update={"highlights": likely, "status": "likely"}))
    assert reference.quotes == ["Boiling water makes it bitter."]


def test_quotes_have_no_marks_of_markdown() -> None:
    answer = answer_of("Tea")
    quote = "- **Green** tea is brewed at [80 degrees](https://tea.example/heat)."
    marked = answer.model_copy(
        update={"citations": [cited(quote).model_copy(update={"number": 1})], "listed": answer.listed[:1]}
    )
    (reference,) = references(marked)
    assert reference.quotes == ["• Green tea is brewed at 80 degrees."]


def test_a_key_is_readable_stable_and_unique() -> None:
    answer = answer_of("Tea", "https://www.tea.example/green")
    citation = answer.citations[0]
    key = reference_key(citation)
    assert re.fullmatch(rf"tea\.example-{citation.seen_at.year}-[0-9a-f]{{8}}", key)
    later = citation.model_copy(update={"seen_at": citation.seen_at.replace(year=2031), "first_seen": citation.seen_at})
    assert reference_key(later) == key  # seen again, and quoted by another answer
    others = [
        citation.model_copy(update={"url": "https://www.tea.example/black"}),
        citation.model_copy(update={"version_sha256": "0" * 64}),
    ]
    assert len({key, *map(reference_key, others)}) == 3
    for url in ("http://[::1]:80/", "https://a_b{}.example,x/", "https://xn--tee-hoa.example:8080/", "urn:nir:x"):
        assert re.fullmatch(r"[a-z0-9.-]+", reference_key(citation.model_copy(update={"url": url})))


def test_a_copy_of_an_archive_is_named() -> None:
    answer = answer_of("Tea")
    copy = "https://archive.example/web/20240501000000/https://tea.example/a_b?c={d}"
    answer = answer.model_copy(
        update={"citations": [citation.model_copy(update={"archive_url": copy}) for citation in answer.citations]}
    )
    (item,) = json.loads(csl_json(answer))
    assert item["archive_location"] == copy
    assert f"AV  - {copy}\r\n" in ris(answer)
    written = bibtex(answer)
    assert (
        "addendum = {Archived copy: \\url{https://archive.example/web/20240501000000/https://tea.example/a_b?c=%7Bd%7D}},"
        in written
    )


def test_a_title_cannot_end_its_field() -> None:
    hostile = answer_of(TITLE)
    written = bibtex(hostile)
    bare = re.sub(r"\\[{}$&#%_]", "", written)
    assert written.count("\n@online") + written.startswith("@online") == 1
    assert bare.count("{") == bare.count("}")
    assert "\\input" not in written
    assert "c=%7Bd%7D" in written
    records = ris(hostile)
    tags = ["TY", "ID", "TI", "UR", "Y2", "N1", "ER"]
    assert [line[:6] for line in records.splitlines()] == [f"{tag}  - " for tag in tags]
    assert json.loads(csl_json(hostile))[0]["title"].startswith("Tea } @online{evil, title")
