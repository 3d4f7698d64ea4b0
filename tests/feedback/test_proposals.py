"""Files of proposals, and releases that come and go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webrag_core.config import Settings
from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.feedback.proposals import Proposal, propose, read_proposal
from webrag_core.feedback.ratings import Evidence
from webrag_core.feedback.releases import LOG, put_in_force, withdraw
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_file, weights_in_force

NEXT = ScoreWeights(lexical=0.32, coverage=0.20, proximity=0.09, token_match=0.15, sibling=0.10, cosine=0.14)
THIRD = ScoreWeights(lexical=0.34, coverage=0.18, proximity=0.09, token_match=0.15, sibling=0.10, cosine=0.14)


def proposed(base: ScoreWeights, weights: ScoreWeights) -> Proposal:
    empty = propose(Evidence([], {}, 0), base)
    assert not empty.changes
    return empty.model_copy(update={"weights": weights.by_name()}).sealed()


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, webrag_home=tmp_path)


def test_a_release_holds_at_once_and_is_taken_back_step_by_step(home: Settings) -> None:
    assert weights_in_force(home) == SHIPPED
    put_in_force(home, proposed(SHIPPED, NEXT), by="ada", verdict={"passes": True})
    assert weights_in_force(home) == NEXT
    put_in_force(home, proposed(NEXT, THIRD), by="ada", verdict={"passes": True})
    assert weights_in_force(home) == THIRD
    assert withdraw(home, by="bob") == NEXT
    assert withdraw(home, by="bob") == SHIPPED
    assert not weights_file(home).exists()
    with pytest.raises(InvalidInputError, match="no weights are released"):
        withdraw(home, by="bob")
    log = (home.webrag_home / "feedback" / LOG).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in log] == ["released", "released", "withdrawn", "withdrawn"]


def test_a_release_is_for_the_weights_that_it_was_judged_against(home: Settings) -> None:
    with pytest.raises(InvalidInputError, match="make another one"):
        put_in_force(home, proposed(NEXT, THIRD), by="ada", verdict={})
    with pytest.raises(InvalidInputError, match="changes nothing"):
        put_in_force(home, proposed(SHIPPED, SHIPPED), by="ada", verdict={})


@pytest.mark.parametrize("damage", ["{", "[]", '{"weights": {"lexical": 1}}', '{"weights": 3}'])
def test_a_damaged_file_is_an_error_that_withdrawing_mends(home: Settings, damage: str) -> None:
    weights_file(home).parent.mkdir(parents=True)
    weights_file(home).write_text(damage, encoding="utf-8")
    with pytest.raises(IntegrityError, match="webrag feedback withdraw"):
        weights_in_force(home)
    assert withdraw(home, by="bob") == SHIPPED


def test_a_file_that_was_edited_is_no_release(home: Settings) -> None:
    put_in_force(home, proposed(SHIPPED, NEXT), by="ada", verdict={})
    text = weights_file(home).read_text(encoding="utf-8")
    weights_file(home).write_text(text.replace("0.32", "0.33").replace("0.14", "0.13"), encoding="utf-8")
    with pytest.raises(IntegrityError, match="changed after its release"):
        weights_in_force(home)


def test_a_proposal_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "proposal.json"
    proposal = proposed(SHIPPED, NEXT)
    file.write_text(proposal.model_dump_json(indent=1), encoding="utf-8")
    assert read_proposal(file) == proposal


def test_what_is_no_proposal_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "proposal.json"
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_proposal(file)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="is no proposal"):
        read_proposal(file)
    good = proposed(SHIPPED, NEXT)
    file.write_text(good.model_copy(update={"actors": 99}).model_dump_json(), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="digest does not fit"):
        read_proposal(file)
    far = ScoreWeights(lexical=0.40, coverage=0.20, proximity=0.05, token_match=0.15, sibling=0.10, cosine=0.10)
    file.write_text(proposed(SHIPPED, far).model_dump_json(), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="moves proximity by 50"):
        read_proposal(file)


def test_the_weights_file_can_be_named(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, webrag_home=tmp_path / "a", retrieval_weights_file=tmp_path / "w.json")
    put_in_force(settings, proposed(SHIPPED, NEXT), by="ada", verdict={})
    assert (tmp_path / "w.json").exists()
    assert weights_in_force(settings.model_copy(update={"webrag_home": tmp_path / "b"})) == NEXT
