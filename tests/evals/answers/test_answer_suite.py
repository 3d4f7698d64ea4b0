"""`webrag eval answers` over a site of three pages, the list of suites, and the check of keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.answers import check_keys, suite_list
from evals.answers.suite_list import key_set, keys_file, own_answer_suites, own_key_sets
from evals.walks.suites import own_suites
from tests.command_line import Webrag, webrag_here
from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_core.errors import InvalidInputError

__all__ = ["webrag_here"]

PAGES = {
    "https://tea.example/": page("Tea", "A small guide to tea.", {"/green.html": "Green tea", "/black.html": "Black"}),
    "https://tea.example/green.html": page("Green tea", "Green tea is brewed at 70 degrees for three minutes."),
    "https://tea.example/black.html": page("Black tea", "Black tea is brewed at 95 degrees for five minutes."),
}
KEYS = [
    {"id": "green", "kind": "value", "q": "At how many degrees is green tea brewed?", "answerable": True,
     "must": [["70 degrees"]], "must_not": [["95", "black"]], "page": "green.html"},
    {"id": "black", "kind": "value", "q": "For how long is black tea brewed?", "answerable": True,
     "must": [["five minutes", "5 minutes"]], "must_not": [["three minutes", "green"]], "page": ["/black.html"]},
    {"id": "price", "kind": "unanswerable", "q": "What does the Lumen X200 cost in Norway?", "answerable": False,
     "must": [], "must_not": [], "page": None, "unknown": "X200"},
]  # fmt: skip


@pytest.fixture
def tea(tmp_path: Path) -> tuple[Path, Path]:
    """A file of keys and the snapshot that they are about."""
    keys = tmp_path / "answers-tea.jsonl"
    keys.write_text("".join(f"{json.dumps({**key, 'site': 'tea'})}\n" for key in KEYS))
    return keys, write_site(tmp_path / "tea.warc.gz", PAGES)


@pytest.mark.slow
def test_a_small_site_is_asked_and_judged(
    webrag_here: Webrag, tea: tuple[Path, Path], tmp_path: Path, suite_home: Path
) -> None:
    keys, warc = tea
    arguments = ("eval", "answers", "--keys", str(keys), "--warc", str(warc), "--out", "items.jsonl")
    done = webrag_here(*arguments, "--json", WEBRAG_HOME=str(suite_home))
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    verdicts = figures["all"]["verdicts"]
    assert (figures["all"]["n"], verdicts["right"], verdicts["refused rightly"]) == (3, 2, 1)
    assert figures["all"]["shares"]["right, of answerable"] | {"low": 0, "high": 0} == {
        "hits": 2, "of": 2, "mean": 1.0, "low": 0, "high": 0, "n": 2, "clusters": 2,
    }  # fmt: skip
    assert figures["all"]["calibration"]["likely"] == {"bins": [], "ece": None, "brier": None, "n": 0}
    assert figures["suites"].keys() == {"tea"}
    assert figures["kinds"].keys() == {"value", "unanswerable"}
    lines = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in lines] == ["right", "right", "refused rightly"]
    assert lines[0]["from"] == ["https://tea.example/green.html"]
    assert lines[0]["q"] == KEYS[0]["q"]

    assert lines[0]["answer"]["sentences"][0]["text"] == "Green tea is brewed at 70 degrees for three minutes."

    changed = [KEYS[0] | {"must": [["71 degrees"]]}, KEYS[1] | {"q": "How long is black tea brewed?"}, KEYS[2]]
    (tmp_path / "answers-tea.jsonl").write_text("".join(f"{json.dumps({**key, 'site': 'tea'})}\n" for key in changed))
    again = webrag_here("eval", "answers", "--keys", str(keys), "--again", "items.jsonl", "--json")
    assert again.returncode == 0, again.stderr
    assert "1 of the questions are left out" in again.stderr
    verdicts = json.loads(again.stdout)["all"]["verdicts"]
    assert (verdicts["wrong"] + verdicts["wrong at low"], verdicts["refused rightly"]) == (1, 1)

    table = webrag_here(*arguments, "--items", "1", WEBRAG_HOME=str(suite_home))
    assert table.returncode == 0, table.stderr
    assert "right, of answerable: 0 of 1, 0.00" in table.stdout
    assert "answers-tea" not in table.stdout, "a suite is called as its file is, without the beginning"


def test_what_cannot_be_asked_is_refused_with_the_way_out(webrag_here: Webrag, tea: tuple[Path, Path]) -> None:
    keys, warc = tea
    for arguments, words in [
        (("--keys", str(keys)), "tea.warc.gz"),
        (("--warc", str(warc)), "goes with --keys"),
        (("--keys", str(keys), "--suite", "tea"), "goes neither with"),
        (("--suite", "coffee"), "no suite of answer keys is called coffee"),
        (("--keys", str(keys), "--warc", str(warc), "--items", "0"), "at least one"),
    ]:
        done = webrag_here("eval", "answers", "--out", "items.jsonl", *arguments)
        assert done.returncode == 2, arguments
        assert words in done.stderr


def test_every_suite_on_the_list_can_be_read() -> None:
    suites = own_answer_suites()
    walked = own_suites()
    for one in own_key_sets():
        assert one.listed is not None
        site = one.warc.name.removesuffix(".warc.gz")
        if site in walked:
            assert one.listed.split == walked[site].split, "a site is whole in one of the two"
    files = keys_file("x").parent.glob("answers-*.jsonl")
    assert {path.name for path in files} == {keys_file(name).name for name in suites}, "none is forgotten"
    reporting = own_key_sets("reporting")
    assert {one.name for one in reporting} == {name for name, suite in suites.items() if suite.split == "reporting"}


def test_the_keys_of_a_file_are_about_one_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "answers-two.jsonl"
    file.write_text("".join(f"{json.dumps({**key, 'site': key['id']})}\n" for key in KEYS))
    with pytest.raises(InvalidInputError, match="about several sites: black, green, price"):
        key_set(file)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "answer-suites.json").write_text('{"two": {"kind": "shop", "split": "both"}}')
    monkeypatch.setattr(suite_list, "EVALS", tmp_path)
    with pytest.raises(InvalidInputError, match=r"answer-suites\.json: two\.split: Input should be"):
        own_answer_suites()


def test_the_check_of_keys_names_what_does_not_hold(tea: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    keys, warc = tea
    with pytest.raises(SystemExit, match="0"):
        check_keys.main(["--keys", str(keys), "--warc", str(warc)])
    capsys.readouterr()
    wrong = [KEYS[0] | {"must": [["71 degrees"]]}, KEYS[1] | {"page": "white.html"}, KEYS[2]]
    keys.write_text("".join(f"{json.dumps({**key, 'site': 'tea'})}\n" for key in wrong))
    with pytest.raises(SystemExit, match="1"):
        check_keys.main(["--keys", str(keys), "--warc", str(warc)])
    assert json.loads(capsys.readouterr().out)["tea"]["problems"] == [
        "green: on none of its pages: 71 degrees",
        "black: not in the archive: white.html",
        "black: on none of its pages: five minutes | 5 minutes",
    ]
