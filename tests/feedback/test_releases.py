"""Files of weights, and releases that come and go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webrag_core.config import Settings
from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.feedback.releases import LOG, put_in_force, read_weights, withdraw
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_file, weights_in_force

NEXT = ScoreWeights(lexical=0.32, coverage=0.20, proximity=0.09, token_match=0.15, sibling=0.10, cosine=0.14)
THIRD = ScoreWeights(lexical=0.34, coverage=0.18, proximity=0.09, token_match=0.15, sibling=0.10, cosine=0.14)


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return Settings(webrag_home=tmp_path)


def test_a_release_holds_at_once_and_is_taken_back_step_by_step(home: Settings) -> None:
    assert weights_in_force(home) == SHIPPED
    put_in_force(home, NEXT, by="ada", verdict={"passes": True})
    assert weights_in_force(home) == NEXT
    put_in_force(home, THIRD, by="ada", verdict={"passes": True})
    assert weights_in_force(home) == THIRD
    assert withdraw(home, by="bob") == NEXT
    assert withdraw(home, by="bob") == SHIPPED
    assert not weights_file(home).exists()
    with pytest.raises(InvalidInputError, match="no weights are released"):
        withdraw(home, by="bob")
    log = (home.webrag_home / "feedback" / LOG).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in log] == ["released", "released", "withdrawn", "withdrawn"]


def test_what_is_in_force_is_not_released_again(home: Settings) -> None:
    with pytest.raises(InvalidInputError, match="in force already"):
        put_in_force(home, SHIPPED, by="ada", verdict={})


@pytest.mark.parametrize("damage", ["{", "[]", '{"weights": {"lexical": 1}}', '{"weights": 3}'])
def test_a_damaged_file_is_an_error_that_withdrawing_mends(home: Settings, damage: str) -> None:
    weights_file(home).parent.mkdir(parents=True)
    weights_file(home).write_text(damage, encoding="utf-8")
    with pytest.raises(IntegrityError, match="webrag feedback withdraw"):
        weights_in_force(home)
    assert withdraw(home, by="bob") == SHIPPED


def test_a_file_that_was_edited_is_no_release(home: Settings) -> None:
    put_in_force(home, NEXT, by="ada", verdict={})
    text = weights_file(home).read_text(encoding="utf-8")
    weights_file(home).write_text(text.replace("0.32", "0.33").replace("0.14", "0.13"), encoding="utf-8")
    with pytest.raises(IntegrityError, match="changed after its release"):
        weights_in_force(home)


def test_weights_are_read_from_a_file_of_people_and_from_one_in_force(home: Settings, tmp_path: Path) -> None:
    file = tmp_path / "by-hand.json"
    file.write_text(json.dumps({"weights": NEXT.by_name()}), encoding="utf-8")
    assert read_weights(file) == NEXT
    put_in_force(home, NEXT, by="ada", verdict={})
    assert read_weights(weights_file(home)) == NEXT


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"weights": 3}', '{"weights": {"lexical": "much"}}', "\0"])
def test_what_holds_no_weights_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "weights.json"
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_weights(file)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match="holds no weights"):
        read_weights(file)


def test_weights_that_cannot_be_are_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    file.write_text(json.dumps({"weights": {**SHIPPED.by_name(), "lexical": 0.9}}), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"outside .*: lexical"):
        read_weights(file)


def test_the_weights_file_can_be_named(tmp_path: Path) -> None:
    settings = Settings(webrag_home=tmp_path / "a", retrieval_weights_file=tmp_path / "w.json")
    put_in_force(settings, NEXT, by="ada", verdict={})
    assert (tmp_path / "w.json").exists()
    assert weights_in_force(settings.model_copy(update={"webrag_home": tmp_path / "b"})) == NEXT
