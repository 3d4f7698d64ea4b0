"""`webrag eval sitewalk` on real goldens of the frozen site."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from evals.walks.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, load_goldens
from evals.walks.sitewalk import suite_settings
from tests.cli.test_models import embeddings
from tests.command_line import Webrag, webrag, webrag_here
from tests.provider_server import serving
from webrag_core.config import load_settings

pytestmark = pytest.mark.slow

__all__ = ["webrag", "webrag_here"]


@pytest.fixture(autouse=True)
def _one_database(suite_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WEBRAG_HOME": str(suite_home), "WEBRAG_PREVIEWS": "2", "WEBRAG_READER": "none"}.items():
        monkeypatch.setenv(name, value)


def test_the_run_log_has_what_an_outside_scorer_needs(webrag: Webrag, webrag_here: Webrag, tmp_path: Path) -> None:
    """Once as the installed script, from nothing, and once here, with a database in use: the same log."""
    few = tmp_path / "few.jsonl"
    lines = DEFAULT_GOLDEN.read_text().splitlines()
    few.write_text(lines[8])
    logs, digests = [], set[str]()
    for name, run, home in (("first.jsonl", webrag, {"WEBRAG_HOME": ".webrag"}), ("second.jsonl", webrag_here, {})):
        files = ("--golden", str(few), "--warc", str(DEFAULT_SITE), "--out", name)
        done = run("eval", "sitewalk", *files, "--json", **home)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["scores"]["all"]["pages"]["n"] == told["calibration"]["at_stop"]["n"] == 1
        assert told["baselines"]["oracle"]["net"]["mean"] == 1
        digests.add(told["digest"])
        logs.append([json.loads(line) for line in (tmp_path / name).read_text().splitlines()])
    for entry in logs[0]:
        assert entry["fetched"][0]["round"] == 0
        assert entry["stop"] in {"confident", "gave_up", "exhausted", "cap"}
        assert isinstance(entry["claimed_found"], bool)
        assert 0 <= entry["confidence"] <= 1
        assert {"url", "text", "char_start", "char_end", "score"} <= entry["evidence"][0].keys()
        assert {"signals", "decision", "rule", "reason"} <= entry["rounds"][0].keys()
    timeless = [[{k: v for k, v in e.items() if k not in ("cpu_s", "wall_s")} for e in log] for log in logs]
    assert timeless[0] == timeless[1]
    assert len(digests) == 1


def test_a_seed_that_is_not_on_the_site_fails_its_item_only(webrag_here: Webrag, tmp_path: Path) -> None:
    lines = DEFAULT_GOLDEN.read_text().splitlines()
    stray = {**json.loads(lines[0]), "id": "stray", "seed_url": "https://docs.python.org/3.11/no-such-page.html"}
    (tmp_path / "two.jsonl").write_text(f"{json.dumps(stray)}\n{lines[8]}\n")
    done = webrag_here("eval", "sitewalk", "--golden", "two.jsonl", "--out", "log.jsonl")
    assert done.returncode == 0, done.stderr
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert log[0]["failed"] == {stray["seed_url"]: "not_found"}
    assert log[1]["evidence"]


def test_all_goldens_load_and_lie_on_the_site() -> None:
    from webrag_core.acquisition.warc import WarcAcquirer

    pages = set(WarcAcquirer(DEFAULT_SITE).page_urls())
    goldens = load_goldens(DEFAULT_GOLDEN)
    assert len(goldens) == 36
    for golden in goldens:
        assert golden.seed_url in pages
        assert {url for needed in golden.gold_pages for url in needed} <= pages


def test_unusable_files_are_named_and_no_log_is_begun(webrag_here: Webrag, tmp_path: Path) -> None:
    line = DEFAULT_GOLDEN.read_text().splitlines()[0]
    unfit = {**json.loads(line), "gold_pages": [], "gold_quotes": []}
    for name, content in {
        "bytes.jsonl": b"\xff\xfe",
        "twice.jsonl": f"{line}\n{line}\n".encode(),
        "unfit.jsonl": json.dumps(unfit).encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
        done = webrag_here("eval", "sitewalk", "--golden", name, "--out", "log.jsonl")
        assert (done.returncode, name in done.stderr) == (2, True), done.stderr
    for warc in ("none.warc.gz", str(tmp_path)):
        done = webrag_here("eval", "sitewalk", "--warc", warc, "--out", "log.jsonl")
        assert (done.returncode, warc in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "log.jsonl").exists()


def test_a_suite_of_unanswerable_items_has_a_table(webrag_here: Webrag, tmp_path: Path) -> None:
    lines = [line for line in DEFAULT_GOLDEN.read_text().splitlines() if '"unanswerable"' in line]
    (tmp_path / "none.jsonl").write_text(lines[0])
    done = webrag_here("eval", "sitewalk", "--golden", "none.jsonl", "--policy", "stop-at-once", "--out", "log.jsonl")
    assert done.returncode == 0, done.stderr
    assert "unanswerable" in done.stdout


def test_a_broken_golden_file_is_named_by_line(webrag_here: Webrag, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(DEFAULT_GOLDEN.read_text().splitlines()[0] + "\nnot json\n")
    done = webrag_here("eval", "sitewalk", "--golden", str(broken))
    assert done.returncode == 2
    assert "broken.jsonl:2" in done.stderr


def test_a_recording_until_the_cap_and_its_baselines(webrag_here: Webrag, tmp_path: Path) -> None:
    lines = DEFAULT_GOLDEN.read_text().splitlines()
    (tmp_path / "one.jsonl").write_text(lines[8])
    limits = {"WEBRAG_MAX_PAGES": "8", "EXPANSION_MIN_CANDIDATE_SCORE": "0"}
    done = webrag_here("eval", "sitewalk", "--golden", "one.jsonl", "--until-cap", "--out", "cap.jsonl", **limits)
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in (tmp_path / "cap.jsonl").read_text().splitlines()]
    assert (record["system"], record["stop"]) == ("webrag/until-cap", "cap")
    assert sum(page.get("aux") != "map" for page in record["fetched"]) + len(record["failed"]) == 8
    pages = [done["pages"] for done in record["rounds"]]
    assert (pages[0], pages[-1], pages) == (1, 8, sorted(pages))
    assert record["settings"]["webrag_max_pages"] == 8
    passages = len(record["evidence"]) + len(record["dropped"])
    assert all(0 <= index < passages for done in record["rounds"] for index, _ in done["evidence"])
    for name in ("stop-at-once", "fixed-k:5", "seed-matrix", "oracle", "ECE"):
        assert name in done.stdout


def test_another_embedding_model_walks_in_a_database_of_its_own(
    webrag_here: Webrag, tmp_path: Path, suite_home: Path
) -> None:
    """No file has to be deleted when the model changes, nor when it changes back."""
    (tmp_path / "one.jsonl").write_text(DEFAULT_GOLDEN.read_text().splitlines()[8])
    run = ("eval", "sitewalk", "--golden", "one.jsonl", "--policy", "stop-at-once", "--out", "log.jsonl")
    assert webrag_here(*run).returncode == 0
    with serving(embeddings) as server:
        remote = {"EMBEDDING_BASE_URL": server.url, "EMBEDDING_MODEL": "some/eight", "EMBEDDING_DIMENSIONS": "8"}
        done = webrag_here(*run, **remote)
        assert done.returncode == 0, done.stderr
        assert server.calls
    assert webrag_here(*run).returncode == 0


def test_homes_bear_the_model_unless_it_is_the_offline_one(tmp_path: Path) -> None:
    def home(**changes: object) -> str:
        return suite_settings(load_settings(webrag_home=tmp_path, **changes), DEFAULT_SITE).webrag_home.name

    remote = {"embedding_base_url": "http://127.0.0.1:9/v1"}
    names = [
        home(),
        home(**remote),
        home(**remote, embedding_model="another/model"),
        home(**remote, embedding_dimensions=8),
    ]
    assert len(set(names)) == 4
    assert names[0] == f"eval-{hashlib.sha256(DEFAULT_SITE.read_bytes()).hexdigest()[:12]}", "as it ever was"
    assert all(re.fullmatch(f"{names[0]}-[0-9a-f]{{12}}", name) for name in names[1:])
    assert home(embedding_model="unused without an endpoint") == names[0]
    assert home(embedding_base_url="http://127.0.0.1:10/v1") == names[1], "the same model elsewhere"
