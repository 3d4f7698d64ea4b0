"""Samples of a suite: every kind of question in turn, the same ones every time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evals.sites.cut_demo import cut
from evals.walks.goldens import DEFAULT_GOLDEN, load_goldens
from evals.walks.suites import DEMO_SITE, covered, own_suites, sample_goldens, sites_of
from tests.conftest import FROZEN_SITE
from webrag_core.errors import InvalidInputError

GOLDENS = load_goldens(DEFAULT_GOLDEN)


def test_a_sample_holds_every_kind_and_keeps_the_order() -> None:
    sample = sample_goldens(GOLDENS, 10)
    assert Counter(golden.kind for golden in sample) == dict.fromkeys({golden.kind for golden in GOLDENS}, 2)
    assert sample == [golden for golden in GOLDENS if golden in sample]
    assert sample_goldens(GOLDENS, 10) == sample
    assert {golden.id for golden in sample} < {golden.id for golden in sample_goldens(GOLDENS, 11)}


def test_a_sample_is_at_most_everything_and_never_nothing() -> None:
    assert sample_goldens(GOLDENS, 1000) == GOLDENS
    with pytest.raises(InvalidInputError, match="at least one"):
        sample_goldens(GOLDENS, 0)


def test_the_small_site_is_a_cut_of_the_whole_one_and_covers_some_questions(tmp_path: Path) -> None:
    cut(FROZEN_SITE, tmp_path / "demo.warc.gz")
    assert (tmp_path / "demo.warc.gz").read_bytes() == DEMO_SITE.read_bytes()
    held = covered(GOLDENS, DEMO_SITE)
    assert {golden.kind for golden in held} >= {"on_seed", "one_hop", "multi_page", "unanswerable"}
    assert covered(GOLDENS, FROZEN_SITE) == GOLDENS


def test_the_sites_of_goldens_are_known_wherever_their_file_lies(tmp_path: Path) -> None:
    suites = own_suites()
    goldens = [golden for suite in suites.values() for golden in load_goldens(suite.golden)]
    assert sites_of(goldens, None) == [suite.warc for suite in suites.values()]
    assert sites_of(goldens, tmp_path / "other.warc.gz") == [tmp_path / "other.warc.gz"]
    with pytest.raises(InvalidInputError, match="--warc"):
        sites_of([GOLDENS[0].model_copy(update={"site": "elsewhere"})], None)


def test_every_golden_file_is_a_suite_and_the_splits_share_no_site() -> None:
    suites = own_suites()
    files = {path.stem.removeprefix("sitewalk-") for path in DEFAULT_GOLDEN.parent.glob("sitewalk-*.jsonl")}
    assert suites.keys() == files
    assert own_suites("fitting") | own_suites("reporting") == suites
    assert not own_suites("fitting").keys() & own_suites("reporting").keys()
    assert all(suite.warc.is_file() for suite in suites.values() if suite.in_git)
    ids = [golden.id for suite in suites.values() for golden in load_goldens(suite.golden)]
    assert len(ids) == len(set(ids))
