"""The fit of `probability_complete`: what is predicted is what the probability is judged by."""

from __future__ import annotations

import numpy as np
import pytest

from evals.fitting import completeness as fitting
from evals.fitting.completeness import Sample, fit, left_out, probabilities, sample_of, stored_table
from evals.reliability import auc
from evals.walks.prefixes import cut_after
from evals.walks.scoring import is_complete, score_item
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens
from webrag_core.config import Settings
from webrag_core.orchestration.policies.calibrated import (
    FEATURES,
    completeness_provenance,
    completeness_tables,
    features,
)
from webrag_core.providers.embedder import ModelIdentity, identity_of

pytestmark = pytest.mark.slow

SETTINGS = Settings()


def drawn(size: int = 3000) -> Sample:
    """Rows whose labels follow a known model of the second feature; two sites, ten rows per item."""
    draw = np.random.default_rng(5)
    rows = draw.uniform(size=(size, 4))
    labels = (draw.uniform(size=size) < 1 / (1 + np.exp(2 - 4 * rows[:, 1]))).astype(float)
    return Sample(rows, labels, ["a" if i % 20 < 10 else "b" for i in range(size)], [str(i // 10) for i in range(size)])


def test_a_row_is_labelled_by_its_evidence_and_not_by_its_pages(recordings: Recordings) -> None:
    goldens = {golden.id: golden for golden in few_goldens()}
    sample = sample_of(recordings.until_cap, "minilm")
    expected, pages_only, rows = [], [], []
    for run in recordings.until_cap:
        for last in range(min(fitting.ROUNDS, len(run.rounds))):
            record = cut_after(run, last)
            expected.append(float(is_complete(goldens[run.id], record)))
            pages_only.append(float(score_item(goldens[run.id], record).get("success", 0)))
            rows.append(list(features(run.rounds[last].signals, "minilm")))
    assert sample.labels.tolist() == expected
    assert sample.rows.tolist() == rows
    assert [row[2:] for row in sample_of(recordings.until_cap, "none").rows.tolist()] == [
        [*row[:3], row[5]] for row in rows
    ]
    assert sum(expected) <= sum(pages_only), "evidence needs the page first"
    assert set(sample.sites) == {"python"}
    assert np.isclose([sample.weights[np.array(sample.items) == item].sum() for item in set(sample.items)], 1).all()


def test_a_fit_finds_the_model_that_the_labels_were_drawn_from() -> None:
    table = fit(drawn())
    assert table.coefficients[1] == pytest.approx(4, abs=0.5)
    assert table.constant == pytest.approx(-2, abs=0.5)
    assert max(abs(value) for index, value in enumerate(table.coefficients) if index != 1) < 0.4


def test_a_row_that_is_left_out_has_no_part_in_its_probability() -> None:
    sample = drawn(400)
    predicted = left_out(sample, sample.sites)
    site = np.array(sample.sites) == "a"
    assert predicted[site] == pytest.approx(probabilities(fit(sample.only(~site)), sample.only(site)))
    flipped = Sample(sample.rows, np.where(site, 1 - sample.labels, sample.labels), sample.sites, sample.items)
    assert left_out(flipped, sample.sites)[site] == pytest.approx(predicted[site])


def test_ranking_quality_by_hand() -> None:
    assert auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])) == 0.875
    assert np.isnan(auc(np.array([0.9]), np.array([1.0])))


@pytest.mark.parametrize("table", FEATURES)
def test_the_shipped_tables_say_where_they_come_from_and_what_they_hold_for(table: str) -> None:
    made = stored_table(drawn(400), table, SETTINGS)["provenance"]
    shipped = completeness_provenance(table)
    assert shipped.label == made["label"]
    assert shipped.features == tuple(made["features"]) == FEATURES[table]
    assert shipped.reader == made["models"]["reader"]
    assert len(completeness_tables()[table].coefficients) == len(FEATURES[table])
    assert shipped.n >= 116
    assert set(shipped.figures["site left out"]) == set(shipped.data)
    assert shipped.holds_for(identity_of(SETTINGS), SETTINGS.reranker_provider)
    assert not shipped.holds_for(ModelIdentity("openai", "text-embedding-3-small", 1536, "l2"), "local")
    assert not shipped.holds_for(identity_of(SETTINGS), "cohere")
