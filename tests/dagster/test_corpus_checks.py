"""The blocking checks of one source: what they let pass, what they stop, and what they say."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg
import pytest

from tests.dagster.corpus_runs import BLACK, GREEN, HOME, KEY, LATER, SITE, add, materialized, run_job, tea_site
from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_dagster.resources import CorpusResource

pytestmark = pytest.mark.slow

OTHER = "https://coffee.example/"
DUE = {"ops": {"documents": {"config": {"pages": "due"}}}}
"""Nothing is due in these tests, so that a run mends nothing by fetching it again."""
CHECKS = {
    "documents": {"source_answers", "ledger_balances", "new_texts_are_taken"},
    "chunks": {"offsets_equal_slices", "counts_agree"},
    "embeddings": {"every_child_has_a_vector", "citations_still_valid"},
    "citations": {"answers_still_hold"},
}


@pytest.fixture
def site(tmp_path: Path, corpus_environment: str) -> Path:
    """The tea site, indexed."""
    return tea_site(tmp_path)


def evaluations(done: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    """What the checks of a run found, by name."""
    return {evaluation.check_name: evaluation for evaluation in done.get_asset_check_evaluations()}


def rows(evaluation: dg.AssetCheckEvaluation, name: str) -> list[dict[str, object]]:
    """A table of an evaluation."""
    found = evaluation.metadata[name]
    assert isinstance(found, dg.TableMetadataValue)
    return [dict(record.data) for record in found.records]


def change(database: str, statement: str, *parameters: object) -> None:
    """Break something behind everybody's back."""
    with psycopg.connect(database, autocommit=True) as connection:
        assert connection.execute(statement.encode(), parameters or None).rowcount > 0, statement


def test_every_check_runs_with_its_asset_for_one_source_and_says_what_it_looked_at(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path
) -> None:
    done = run_job(definitions, instance, site)
    assert done.success
    found = evaluations(done)
    assert {name: evaluation.asset_key.to_user_string() for name, evaluation in found.items()} == {
        name: asset for asset, names in CHECKS.items() for name in names
    }
    assert all(evaluation.passed and evaluation.partition == KEY for evaluation in found.values())
    assert found["offsets_equal_slices"].metadata["versions"].value == 3
    assert found["every_child_has_a_vector"].metadata["documents"].value == 3


def test_checks_executed_without_a_partition_cover_all_sources(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path
) -> None:
    """As *Execute all* on the Checks tab."""
    instance.add_dynamic_partitions("webrag_source", [KEY, "coffee.example"])
    names = set().union(*CHECKS.values()) - {"source_answers"}  # it is part of a refresh
    keys = {key for key in definitions.resolve_asset_graph().asset_check_keys if key.name in names}
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection=set(), asset_check_selection=keys
    )
    resources = {"corpus": CorpusResource(warc=str(site))}
    done = job.execute_in_process(instance=instance, resources=resources, raise_on_error=False)
    assert {name: found.passed for name, found in evaluations(done).items()} == dict.fromkeys(names, True)
    assert evaluations(done)["offsets_equal_slices"].metadata["versions"].value == 3


@pytest.mark.parametrize(
    ("statement", "check", "rule", "below"),
    [
        (
            "UPDATE chunks SET body = body || '!' WHERE level = 'parent'",
            "offsets_equal_slices",
            "slice",
            {"embeddings"},
        ),
        (
            "UPDATE document_versions SET child_count = child_count + 1",
            "counts_agree",
            "chunk-count",
            {"embeddings"},
        ),
        (
            "DELETE FROM fetch_log",
            "ledger_balances",
            "ledger-knows-document",
            {"link_candidates", "chunks", "embeddings"},
        ),
    ],
)
def test_broken_data_stops_what_is_below_and_the_reason_can_be_read(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    site: Path,
    corpus_environment: str,
    statement: str,
    check: str,
    rule: str,
    below: set[str],
) -> None:
    change(corpus_environment, statement)
    done = run_job(definitions, instance, site, config=DUE)
    assert not done.success
    found = evaluations(done)[check]
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.ERROR
    assert found.partition == KEY
    assert rule in (found.description or "")
    assert rows(found, "broken")[0]["rule"] == rule
    assert str(rows(found, "broken")[0]["where"]).startswith(HOME)
    assert {name for name in ("link_candidates", "chunks", "embeddings") if not materialized(instance, name)} == below


def test_new_texts_that_are_held_back_are_told_until_they_are_accepted(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path
) -> None:
    lorem = page("Lorem", "Ipsum dolor sit amet consectetur adipiscing elit sed eiusmod.")
    fourth = page("White tea", "White tea is hardly brewed at all: seventy degrees for a minute or two.")
    write_site(site, {**SITE, HOME + "white": fourth})
    add(site, HOME + "white")
    write_site(site, {**dict.fromkeys(SITE, lorem), HOME + "white": fourth})
    done = run_job(definitions, instance, site)
    assert done.success
    found = evaluations(done)
    held = found["new_texts_are_taken"]
    assert (held.passed, held.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert [row["page"] for row in rows(held, "held_back")] == sorted(SITE)
    assert "several pages show one new text" in (held.description or "")
    assert found["source_answers"].metadata["pages_failing"].value == 3
    assert done.asset_materializations_for_node("documents")[0].metadata["pages_held"].value == 3
    write_site(site, {**dict.fromkeys(SITE, lorem), HOME + "white": lorem})
    whole = run_job(definitions, instance, site)
    assert not whole.success
    [answers] = whole.get_asset_check_evaluations()
    assert "no new text of tea.example was taken: 4 × held_back" in (answers.description or "")
    accepted = run_job(definitions, instance, site, config={"ops": {"documents": {"config": {"accept": True}}}})
    assert evaluations(accepted)["new_texts_are_taken"].passed
    assert evaluations(accepted)["source_answers"].passed
    assert accepted.asset_materializations_for_node("documents")[0].metadata["pages_changed"].value == 4


def test_vectors_alone_do_not_pass_by_broken_chunks_and_mending_cuts_them_again(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, corpus_environment: str
) -> None:
    """As the automation asks for them once an hour, or somebody in the UI."""
    instance.add_dynamic_partitions("webrag_source", [KEY])
    change(corpus_environment, "UPDATE chunks SET char_end = char_end + 3 WHERE id = (SELECT max(id) FROM chunks)")
    everything = definitions.resolve_implicit_global_asset_job_def()
    alone = everything.get_subset(asset_selection={dg.AssetKey("embeddings")})
    resources = {"corpus": CorpusResource(warc=str(site))}
    done = alone.execute_in_process(
        instance=instance, partition_key=KEY, resources=resources, tags={}, raise_on_error=False
    )
    assert not done.success
    failed = done.failure_data_for_node("embeddings")
    assert failed is not None
    assert failed.user_failure_data is not None
    assert "chunks of 1 pages are broken" in str(failed.user_failure_data.description)
    assert not run_job(definitions, instance, site, job="index").success, "their checks still fail"
    mend = {"ops": {"chunks": {"config": {"mend": True}}}}
    mended = run_job(definitions, instance, site, job="index", config=mend)
    assert mended.success
    [cut] = [one for one in mended.asset_materializations_for_node("chunks") if one.asset_key == dg.AssetKey("chunks")]
    assert cut.metadata["pages_rechunked"].value == 1
    assert all(evaluation.passed for evaluation in evaluations(mended).values())


def test_a_check_looks_at_its_own_source_only(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, tmp_path: Path, corpus_environment: str
) -> None:
    both = write_site(tmp_path / "both.warc.gz", {**SITE, OTHER: page("Coffee", "Coffee is brewed hot.")})
    add(both, OTHER)
    change(corpus_environment, "DELETE FROM fetch_log WHERE url = %s", BLACK)
    assert run_job(definitions, instance, both, key="coffee.example", config=DUE, assets=["documents"]).success
    assert not run_job(definitions, instance, both, config=DUE, assets=["documents"]).success


def test_a_missing_vector_is_found(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, corpus_environment: str
) -> None:
    # a run would mend it: what is looked at is the check alone
    change(corpus_environment, "DELETE FROM vectors_1 WHERE chunk_id = (SELECT min(chunk_id) FROM vectors_1)")
    alone = check_alone(definitions, instance, site, "every_child_has_a_vector")
    assert not alone.passed
    assert rows(alone, "broken")[0]["found"] == "1 children without a vector, 0 vectors without a child"


def check_alone(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, name: str
) -> dg.AssetCheckEvaluation:
    """One check, as its button in the UI runs it."""
    instance.add_dynamic_partitions("webrag_source", [KEY])
    key = dg.AssetCheckKey(dg.AssetKey("embeddings"), name)
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection=set(), asset_check_selection={key}
    )
    done = job.execute_in_process(
        instance=instance,
        partition_key=KEY,
        resources={"corpus": CorpusResource(warc=str(site))},
        raise_on_error=False,
    )
    return evaluations(done)[name]


def cite(database: str, url: str, quote: str) -> None:
    """A stored answer that quotes a page."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "WITH a AS (INSERT INTO answer_runs (seed_url, query, options, policy, state)"
            " VALUES (%(url)s, 'How?', '{}', 'calibrated', 'done') RETURNING id)"
            " INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, score)"
            " SELECT a.id, 1, v.id, strpos(v.markdown, %(quote)s) - 1,"
            " strpos(v.markdown, %(quote)s) - 1 + length(%(quote)s),"
            " encode(sha256(convert_to(%(quote)s, 'UTF8')), 'hex'), 1"
            " FROM a, documents d JOIN document_versions v ON v.id = d.current_version"
            " WHERE d.canonical_url = %(url)s AND strpos(v.markdown, %(quote)s) > 0",
            {"url": url, "quote": quote},
        )


def test_what_became_of_the_quotes_of_stored_answers(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, tmp_path: Path, corpus_environment: str
) -> None:
    cite(corpus_environment, HOME, "All about tea")
    cite(corpus_environment, GREEN, "eighty degrees")
    cite(corpus_environment, BLACK, "ninety-five degrees")
    done = run_job(definitions, instance, site)
    assert done.success
    before = evaluations(done)["citations_still_valid"]
    assert before.passed
    assert {name: before.metadata[name].value for name in ("citations", "valid", "moved", "changed", "gone")} == {
        "citations": 3,
        "valid": 3,
        "moved": 0,
        "changed": 0,
        "gone": 0,
    }
    later = {**LATER, BLACK: page("Black tea", "First of all: black tea is brewed at ninety-five degrees.")}
    done = run_job(definitions, instance, write_site(tmp_path / "later.warc.gz", later))
    assert done.success, "a page may change: that is told, and stops nothing"
    after = evaluations(done)["citations_still_valid"]
    assert not after.passed
    assert after.severity is dg.AssetCheckSeverity.WARN
    assert {name: after.metadata[name].value for name in ("valid", "moved", "changed", "gone")} == {
        "valid": 2,
        "moved": 0,
        "changed": 1,
        "gone": 0,
    }
    assert [(row["state"], row["page"]) for row in rows(after, "not_valid_any_more")] == [("changed", GREEN)]
    assert "1 changed" in (after.description or "")
    lost = evaluations(done)["answers_still_hold"]
    assert not lost.passed
    assert lost.severity is dg.AssetCheckSeverity.WARN
    assert [row["page"] for row in rows(lost, "lost_answers")] == [GREEN]


def test_a_quote_that_is_not_in_its_own_version_is_an_error(
    definitions: dg.Definitions, instance: dg.DagsterInstance, site: Path, corpus_environment: str
) -> None:
    cite(corpus_environment, GREEN, "eighty degrees")
    change(corpus_environment, "UPDATE citations SET quote_sha256 = repeat('0', 64)")
    found = check_alone(definitions, instance, site, "citations_still_valid")
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.ERROR
    assert rows(found, "not_valid_any_more")[0]["state"] == "broken"
