"""The pages of an answer as references: whatever a page calls itself, it stays a value of its field."""

from __future__ import annotations

import json
import re

from tests.showing.test_page import silent
from tests.showing.test_passage import cited
from webrag_core.answering.models import Answer
from webrag_core.showing.references import bibtex, csl_json, references, ris

TITLE = "Tea } @online{evil,\n title = {x}} & 100 % of $1 \\input{/etc/passwd}\r\nER  - \r\nTY  - BOOK"


def answer_of(title: str, url: str = "https://tea.example/a_b?c={d}#e") -> Answer:
    """An answer with two quotes of a page of this title."""
    quote = "Green tea is brewed\nat 80 degrees."
    first = cited(quote).model_copy(update={"title": title, "url": url, "number": 1})
    second = first.model_copy(update={"number": 2, "quote": "Boiling water makes it bitter."})
    answer = silent(first, [])
    return answer.model_copy(update={"citations": [first, second], "answer_id": 7})


def test_quotes_of_one_page_are_one_reference() -> None:
    (reference,) = references(answer_of("Tea"))
    assert reference.quotes == ["Green tea is brewed at 80 degrees.", "Boiling water makes it bitter."]
    (item,) = json.loads(csl_json(answer_of("Tea")))
    assert (item["id"], item["type"], item["title"]) == ("webrag7-1", "webpage", "Tea")
    assert [len(part) for part in item["accessed"]["date-parts"]] == [3]
    assert "“Boiling water makes it bitter.”" in item["note"]


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
