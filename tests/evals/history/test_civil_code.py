"""The evaluation of a legal history, on a small one with the same traps."""

from __future__ import annotations

import asyncio
import random
from datetime import date
from pathlib import Path

import pytest

from evals.history.civil_code import Branch, choose_pairs, measure
from tests.acquisition.git_repositories import WrittenRepository


def written(folder: Path) -> WrittenRepository:
    code = WrittenRepository(folder)
    articles = {f"Article {number}.md": f"Article {number} says something in many words." for number in range(1, 7)}
    for name, text in articles.items():
        code.write(name, text)
    code.commit_all("1970-01-01T01:00:01+0100", "Créé par Loi 1803-03-14 promulguée le 24 mars 1803")
    code.write("Article 7.md", "Article 7 came at some time.")
    code.commit_all("1970-01-01T01:00:02+0100", "Créé par Loi n°2001-1135 du 3 décembre 2001")
    for year in (1938, 1970, 1985, 2001):
        message = "Modifié par Loi du 18 février 1938, v. init." if year == 1938 else "Modifié"
        message = "en vigueur le 1er janvier 1970" if year == 1970 else message
        for name, text in articles.items():
            code.write(name, f"{text} Since {year} it says more.")
        moment = "1970-01-01T01:00:03+0100" if year == 1938 else f"{year}-01-01T08:00:00+0100"
        code.commit_all(moment, message)
    code.write("Code Civil/Article 8.md", "Article 8 is repealed later.")
    code.write("Code Civil/Article 9.md", "Article 9 stays in force.")
    code.commit_all("1999-01-01T08:00:00+0100", "Créé")
    code.write("Code Civil/Article 8.md", None)
    code.commit_all("2002-01-01T08:00:00+0100", "Abrogé")
    code.git("branch", "everything")
    return code


def test_truth_is_read_from_git(tmp_path: Path) -> None:
    branch = Branch(written(tmp_path / "code").folder, "master")
    branch.read_days()
    assert [str(last) for first, last in branch.days.values() if first == last][:3] == [
        "1803-03-24",
        "1938-02-18",
        "1970-01-01",
    ]
    first = branch.pair("Article 1.md", date(1938, 2, 17), "before")
    assert (first.text, first.known) == ("Article 1 says something in many words.", True)
    assert branch.pair("Article 1.md", date(1803, 3, 23), "not_yet").text is None
    assert not branch.pair("Article 7.md", date(1900, 1, 1), "between").known
    assert len(choose_pairs(branch, None, 20, random.Random(0))["master"]) == 18


@pytest.mark.slow
def test_the_adapter_is_judged(tmp_path: Path) -> None:
    folder = written(tmp_path / "code").folder
    report = asyncio.run(measure(folder, pairs=40, seed=1))
    assert report["wrong"] == []
    assert report["right"] == report["pairs"] == 37
    assert report["by_kind"]["repeal"]["refusal"] >= 1  # type: ignore[index]
