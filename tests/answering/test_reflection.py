"""What sentences leave open and where they disagree; what must not leave with an answer."""

from __future__ import annotations

import pytest

from webrag_core.answering.guard import check_output
from webrag_core.answering.models import AnswerSentence
from webrag_core.answering.reflection import disagreements, missing_parts
from webrag_core.config import Settings
from webrag_core.errors import GuardrailsViolationError


def sentence(ordinal: int, text: str, part: int = 0) -> AnswerSentence:
    return AnswerSentence(ordinal=ordinal, text=text, proof="verbatim", citations=[ordinal], part=part, support=0.5)


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        ("The default timeout is 30 seconds.", "The default timeout is 60 seconds.", "number"),
        ("The queue is thread-safe.", "The queue is not thread-safe.", "negation"),
        ("The default timeout is 30 seconds.", "The default timeout is 30 seconds", None),
        ("The default timeout is 30 seconds.", "A queue holds 60 items of any size.", None),
        ('Start the player with the "no sound" option.', "The option of the player starts the sound.", None),
        ("If all arguments are zero, the value is 0.", "Without arguments the value of all is 0.", None),
        ("A refund takes 14 days for all.", "A refund of a licence for 2 rods takes 14 days.", None),
        ("timeout = 30\nstart(timeout)", "timeout = 60\nstart(timeout)", None),
    ],
)
def test_sentences_that_cannot_both_hold(one: str, other: str, about: str | None) -> None:
    pairs = disagreements([sentence(1, one), sentence(2, other)])
    assert [pair.about for pair in pairs] == ([] if about is None else [about])


def test_a_part_without_a_sentence_is_missing() -> None:
    [missing] = missing_parts(["how hot", "how long"], [sentence(1, "Seventy degrees.")], 40, below_floor=True)
    assert (missing.part, missing.text, missing.why) == (1, "how long", "below_floor")


def test_a_secret_of_the_settings_never_leaves() -> None:
    settings = Settings.model_validate({"reranker_api_key": "sk-very-secret"})
    check_output(["The key is in the vault."], settings)
    with pytest.raises(GuardrailsViolationError) as error:
        check_output(["The key is sk-very-secret."], settings)
    assert error.value.stage == "output"
    assert "sk-very-secret" not in error.value.message
