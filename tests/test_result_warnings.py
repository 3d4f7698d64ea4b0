"""Warnings as texts that know what they are about: in results, in JSON, in rows of today and before."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from webrag_core.result_warnings import Caution

URL = "https://site.example/doc"


class Reply(BaseModel):
    warnings: list[Caution]


def parts(caution: Caution) -> tuple[str, str | None, str]:
    return str(caution), caution.about, caution.message


@given(text=st.text(), about=st.sampled_from((None, URL, "http://site.example/?a: b")))
def test_what_is_stored_is_read_again(text: str, about: str | None) -> None:
    caution = Caution(text) if about is None else Caution.on(about, text)
    assert caution.message == text
    for again in (Caution.load(caution.stored), pickle.loads(pickle.dumps(caution)), copy.deepcopy(caution)):
        assert parts(again) == parts(caution)


def test_in_json_it_is_its_text() -> None:
    reply = Reply(warnings=[Caution.on(URL, "too large"), Caution("no model")])
    assert [one.about for one in reply.warnings] == [URL, None]
    texts = [f"{URL}: too large", "no model"]
    assert reply.model_dump() == reply.model_dump(mode="json") == {"warnings": texts}
    assert Reply.model_validate_json(reply.model_dump_json()).warnings == texts
    for mode in ("validation", "serialization"):
        schema = Reply.model_json_schema(mode=mode)  # type: ignore[arg-type]
        assert schema["properties"]["warnings"]["items"] == {"type": "string"}


@pytest.mark.parametrize("value", [1, None, {"text": "no address"}, {"about": URL}, ["text"]])
def test_what_is_no_warning_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        Reply.model_validate({"warnings": [value]})
