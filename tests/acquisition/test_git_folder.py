"""Reading a folder under git: states of paths, days of commits, and repositories that would run programs."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.acquisition.git_repositories import WrittenRepository
from webrag_core.acquisition import git_commands
from webrag_core.acquisition.git_commands import MAX_FIELD_BYTES, _fields
from webrag_core.acquisition.git_dates import CommitDay, commit_days, segments
from webrag_core.acquisition.git_folder import GitFolder
from webrag_core.errors import InvalidInputError

BASE = "https://law.example/code/"


@pytest.fixture
def repository(tmp_path: Path) -> WrittenRepository:
    return WrittenRepository(tmp_path / "code")


def test_every_path_has_its_states(repository: WrittenRepository) -> None:
    repository.commit("2001-01-01T08:00:00+0100", "one", book__one="First words", two="Second words")
    repository.commit("2002-01-01T08:00:00+0100", "other", two="Second words changed")
    repository.write("Book I/Article 3?é#.md", "Third words")
    repository.write("picture.png", "no text")
    repository.commit_all("2003-01-01T08:00:00+0100", "a name that has to be quoted\n\nand a body\n:with a colon")
    repository.commit("2004-01-01T08:00:00+0100", "gone", two=None)
    history = GitFolder(repository.folder, BASE)
    assert {file.url: [state.commit for state in file.states] for file in history.files} == {
        f"{BASE}Book%20I/Article%203%3F%C3%A9%23.md": [2],
        f"{BASE}book/one.md": [0],
        f"{BASE}two.md": [0, 1, 3],
    }
    assert [commit.authored.date().year for commit in history.commits] == [2001, 2002, 2003, 2004]
    assert history.skipped == {"picture.png": "no text file"}
    two = next(file for file in history.files if file.name == "two")
    assert two.states[-1].blob is None
    blobs = [state.blob for state in two.states if state.blob]
    assert (history.repository.read([*blobs, "0" * 40])) == [b"Second words", b"Second words changed", None]
    history.close()
    inner = GitFolder(repository.folder / "book", BASE)
    assert [file.url for file in inner.files] == [f"{BASE}one.md"]
    assert [file.url for file in GitFolder(repository.folder, BASE, revision="master:Book I").files] == [
        f"{BASE}Article%203%3F%C3%A9%23.md"
    ]
    earlier = GitFolder(repository.folder, BASE, revision=history.commits[0].id)
    assert len(earlier.commits) == 1


def test_what_is_no_history_says_so(tmp_path: Path, repository: WrittenRepository) -> None:
    repository.commit("2001-01-01T08:00:00+0100", "one", one="First words")
    for folder, revision, base, problem in (
        (tmp_path / "none", "HEAD", BASE, "is no folder"),
        (tmp_path, "HEAD", BASE, "git cannot read it"),
        (repository.folder, "nobranch", BASE, "git cannot read it"),
        (repository.folder, "--upload-pack=touch", BASE, "git cannot read it"),
        (repository.folder, "HEAD:nowhere", BASE, "has no text file"),
        (repository.folder, "HEAD", "https://law.example/?page=1", "has a query"),
        (repository.folder, "HEAD", "ftp://law.example/", "http"),
    ):
        with pytest.raises(InvalidInputError, match=problem):
            GitFolder(folder, base, revision=revision)


def test_a_repository_runs_no_program(tmp_path: Path, repository: WrittenRepository) -> None:
    """Its configuration, hooks and attributes name programs that would leave a file; a missing blob is not fetched."""
    repository.commit("2001-01-01T08:00:00+0100", "one", one="First words", two="Second words")
    repository.write(".gitattributes", "*.md diff=evil filter=evil\n")
    repository.commit_all("2002-01-01T08:00:00+0100", "attributes")
    witness = tmp_path / "witness"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{witness}'\ncat\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "gpg.program",
                 "diff.evil.textconv", "diff.evil.command", "filter.evil.smudge", "filter.evil.clean",
                 "core.alternateRefsCommand", "pager.log", "credential.helper"):  # fmt: skip
        repository.git("config", name, str(program))
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "alias.log", f"!{program}")
    repository.git("config", "protocol.ext.allow", "always")
    repository.git("config", "remote.origin.url", f"ext::{program}")
    repository.git("config", "remote.origin.promisor", "true")
    repository.git("config", "extensions.partialClone", "origin")
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        (repository.folder / ".git" / "hooks" / hook).symlink_to(program)
    history = GitFolder(repository.folder, BASE)
    blob = history.files[0].states[0].blob
    assert blob is not None
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert (history.repository.read([blob])) == [None]
    history.close()
    assert not witness.exists(), witness.read_text()


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        # git has no day before 1970: the message names it
        (
            [
                ("1970-01-01T01:00:01+0100", "Créé par Loi 1803-03-14 promulguée le 24 mars 1803"),
                ("1970-01-01T01:00:02+0100", "Modifié par Loi du 18 février 1938, v. init."),
                ("1970-01-01T08:00:00+0100", "Loi du 3 janvier 1969 en vigueur le 1er janvier 1970"),
                ("1971-07-08T08:00:00+0100", "Créé par Loi 1804-03-15 promulguée le 25 mars 1804"),
            ],
            ["1803-03-24", "1938-02-18", "1970-01-01", "1971-07-08"],
        ),
        # a day against the order of the history, one that git could have said, and none
        (
            [
                ("1970-01-01T01:00:01+0100", "Créé par Loi 1803-03-14"),
                ("1970-01-01T01:00:02+0100", "Créé le 24 mars 1804"),
                ("1970-01-01T01:00:02+0100", "Créé le 21 mars 1803"),
                ("1970-01-01T01:00:03+0100", "Loi du 3 décembre 2001 en vigueur le 1er juillet 2002"),
                ("1970-01-01T01:00:04+0100", "Modifié"),
                ("1970-01-01T01:00:05+0100", "Modifié le 8 avril 1898"),
                ("1970-01-01T01:00:06+0100", "Modifié le 8 avril 1950"),
            ],
            ["1803-03-14", *["1803-03-14..1898-04-08"] * 4, "1898-04-08", "1950-04-08"],
        ),
        ([("1970-01-01T01:00:01+0100", "Nothing")], ["..1970-01-01"]),
        # the day is the author's own
        ([("2014-07-01T00:30:00+0200", "Modifié")], ["2014-07-01"]),
    ],
)
def test_days_of_commits(repository: WrittenRepository, commits: list[tuple[str, str]], expected: list[str]) -> None:
    for number, (moment, message) in enumerate(commits):
        repository.commit(moment, message, one=f"Text number {number}")
    days = commit_days(GitFolder(repository.folder, BASE).commits)
    assert [str(day.latest) if day.known else f"{day.earliest or ''}..{day.latest}" for day in days] == expected


DAYS = st.integers(1, 60).map(lambda number: date.fromordinal(700_000 + number))


@given(st.lists(st.tuples(DAYS, st.sampled_from("abc")), max_size=12), DAYS)
def test_on_each_day_the_last_state_dated_before_counts(states: list[tuple[date, str]], day: date) -> None:
    listed = segments([(CommitDay(at, at), text) for at, text in states])
    holders = [one.text for one in listed if (one.start or day) <= day and (one.end is None or day < one.end)]
    assert holders == [text for at, text in states if at <= day][-1:]
    assert all(one.end is None or (one.start is not None and one.start < one.end) for one in listed)


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("1700000000 +0530", "2023-11-15T03:43:20+05:30"),
        ("1700000000 +9999", "2023-11-14T22:13:20+00:00"),
        ("1700000000 -7500", "2023-11-14T22:13:20+00:00"),
        ("253402300800 +0000", "2020-01-01T12:00:00+00:00"),
        ("99999999999999999999 +0000", "2020-01-01T12:00:00+00:00"),
    ],
)
def test_a_commit_with_an_odd_date_costs_its_date_alone(tmp_path: Path, date: str, moment: str) -> None:
    repository = WrittenRepository(tmp_path / "odd")
    first = repository.commit("2020-01-01T12:00:00+00:00", "first", page="# One\n\nSome words of it.")
    repository.write("page.md", "# Two\n\nOther words of it.")
    repository.git("add", "--all")
    tree = repository.git("write-tree")
    person = f"A. Person <person@example.org> {date}"
    (tmp_path / "commit").write_text(f"tree {tree}\nparent {first}\nauthor {person}\ncommitter {person}\n\nsecond\n")
    second = repository.git("hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit"))
    folder = GitFolder(tmp_path / "odd", "https://odd.example/", revision=second)
    try:
        assert [commit.message.strip() for commit in folder.commits] == ["first", "second"]
        assert folder.commits[1].authored.isoformat() == moment
        assert len(folder.files[0].states) == 2
    finally:
        folder.close()


def test_what_is_odd_in_a_history_is_left_out_and_counted(tmp_path: Path, repository: WrittenRepository) -> None:
    repository.commit("2001-01-01T08:00:00+0000", "a" * 90_000, one="First words of it")
    (repository.folder / "link.md").symlink_to("/etc/passwd")
    repository.write("was-a-link.md", "Words of a file")
    (repository.folder / "page.md").write_bytes(b"\0binary \xff\xfe words\0" * 100)
    repository.commit_all("2002-01-01T08:00:00+0000", "special")
    (repository.folder / "was-a-link.md").unlink()
    (repository.folder / "was-a-link.md").symlink_to("/etc/shadow")
    tip = repository.commit_all("2003-01-01T08:00:00+0000", "special again")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{tip},inner.md")
    repository.git("commit", "--quiet", "--message", "module")
    history = GitFolder(repository.folder, BASE)
    assert [len(commit.message) for commit in history.commits] == [20_000, 8, 14, 7]
    assert history.skipped == {
        "inner.md": "another repository (a submodule)",
        "link.md": "a symbolic link",
        "was-a-link.md": "a symbolic link",
    }
    assert dict(history.refused) == {
        "a symbolic link": 2,
        "another repository (a submodule)": 1,
        "ends of long messages": 1,
    }
    states = {file.name: [state.blob is not None for state in file.states] for file in history.files}
    assert states == {"one": [True], "page": [True], "was-a-link": [True, False]}
    history.close()


def test_a_field_is_cut_wherever_its_pieces_end() -> None:
    fields = [b"", b"one", b"x" * (MAX_FIELD_BYTES + 1), b"y" * MAX_FIELD_BYTES, b"last"]
    text = b"\0".join(fields)
    for size in (1_000, 65_536, len(text)):
        pieces = (text[at : at + size] for at in range(0, len(text), size))
        assert list(_fields(pieces)) == [(one[:MAX_FIELD_BYTES], len(one) > MAX_FIELD_BYTES) for one in fields]


def test_a_configuration_that_never_ends_is_given_up(
    tmp_path: Path, repository: WrittenRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("2001-01-01T08:00:00+0100", "one", one="First words")
    os.mkfifo(tmp_path / "pipe")
    with (repository.folder / ".git" / "config").open("a") as config:
        config.write(f"[include]\n\tpath = {tmp_path / 'pipe'}\n")
    monkeypatch.setattr(git_commands, "_SECONDS", 1)
    with pytest.raises(InvalidInputError, match="took more than"):
        GitFolder(repository.folder, BASE)
