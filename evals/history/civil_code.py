"""The French civil code by what was in force: 400 (article, day) pairs, judged by git itself.

    python -m evals.history.civil_code --repository PATH [--pairs 400] [--seed 0] [--json FILE]

PATH is a copy of github.com/steeve/france.code-civil, whose commits are dated by entry into force; its branch
`everything` has the articles that were repealed. Truth is read with `git log` and `git rev-parse` for each path apart
and by rules of this file alone; the adapter reads one log of everything. Only the articles asked about are stored.

A pair is of one kind: a change day, the day before one, a day in between, a day before the first text (not yet), a day
before 1970, a repeal. Right is the text of git to the letter, the refusal where git has no text, and `not_stated` where
the history has the text without a credible day.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from webrag_core.acquisition.git_folder import GitFolder
from webrag_core.config import Settings
from webrag_core.corpus.histories import HistoryIngestor
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import PageAt
from webrag_core.history.pages import page_at
from webrag_core.indexing.pipeline import Corpus

_DAY = timedelta(days=1)
_EPOCH = date(1970, 1, 1)
_REPEALS = "everything:Code Civil"
_BASE = "https://law.example/{branch}/"
_SHARES = {"change": 0.3, "before": 0.2, "between": 0.15, "not_yet": 0.15, "before_1970": 0.1, "repeal": 0.1}
_MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()  # noqa: SIM905
_FRENCH = re.compile(rf"\b(\d{{1,2}})(?:er)? ({'|'.join(_MONTHS)}) (\d{{4}})\b", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that touched a path: its day, or the bounds of it, and the blob (None = removed)."""

    earliest: date | None
    latest: date
    blob: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """An article and a day; `text` is what git has (None = nothing in force), unless its day is not known."""

    path: str
    day: date
    kind: str
    text: str | None
    known: bool


@dataclass(slots=True)
class Branch:
    """A branch, or a folder of one, read path by path."""

    repository: Path
    name: str
    days: dict[str, tuple[date | None, date]] = field(default_factory=dict)
    _changes: dict[str, list[Change]] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """The branch without its folder."""
        return self.name.partition(":")[0]

    @property
    def folder(self) -> str:
        """The folder, with a slash at the end where there is one."""
        inner = self.name.partition(":")[2]
        return f"{inner}/" if inner else ""

    def git(self, *arguments: str) -> str:
        """Output of a git command."""
        command = ["git", "-C", str(self.repository), "-c", "core.quotePath=false", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def has(self, revision: str) -> bool:
        """Whether the repository has a branch or a folder of one."""
        command = ["git", "-C", str(self.repository), "rev-parse", "--verify", "--quiet", revision]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def read_days(self) -> None:
        """Days of all commits of the folder, in the order of the history."""
        log = self.git(
            "log", "--reverse", "--first-parent", "--format=%H %ad%n%B%x00", "--date=short", self.revision, "--",
            self.folder or ".",
        )  # fmt: skip
        commits = [entry.strip().partition("\n") for entry in log.split("\0") if entry.strip()]
        dated = [(head.split()[0], date.fromisoformat(head.split()[1]), message) for head, _, message in commits]
        named = [_named_day(message) if day <= _EPOCH else day for _, day, message in dated]
        zero = [place for place, (_, day, _) in enumerate(dated) if day <= _EPOCH]
        believed = _undisputed([(place, named[place]) for place in zero])
        for place, (commit, day, _) in enumerate(dated):
            if place not in zero or place in believed:
                known = named[place] or day
                self.days[commit] = (known, known)
                continue
            around = [day if other not in zero else named[other] for other, (_, day, _) in enumerate(dated)
                      if other not in zero or other in believed]  # fmt: skip
            count = sum(1 for other in range(place) if other not in zero or other in believed)
            earlier = around[count - 1] if count else None
            later = around[count] if count < len(around) else _EPOCH
            self.days[commit] = (earlier, max(later or _EPOCH, earlier or date.min))

    def paths(self, *, removed: bool = False) -> list[str]:
        """All articles that the history ever had, or those that it removed."""
        only = ["--diff-filter=D"] if removed else []
        command = ["log", *only, "--first-parent", "-m", "--no-renames", "--name-only", "--format="]
        names = self.git(*command, self.revision, "--", self.folder or ".")
        return sorted({name for name in names.splitlines() if Path(name).name.startswith("Article ")})

    def changes(self, path: str) -> list[Change]:
        """What happened to a path, in the order of the history."""
        if path not in self._changes:
            log = self.git(
                "log", "--reverse", "--first-parent", "-m", "--no-renames", "--format=%H", self.revision, "--", path
            )
            listed = []
            for commit in dict.fromkeys(log.split()):
                done = subprocess.run(
                    ["git", "-C", str(self.repository), "rev-parse", "--verify", "--quiet", f"{commit}:{path}"],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                listed.append(Change(*self.days[commit], done.stdout.strip() or None))
            self._changes[path] = listed
        return self._changes[path]

    def pair(self, path: str, day: date, kind: str) -> Pair:
        """What git has of a path on a day: of its commits dated then or before, the last."""
        begun = [change for change in self.changes(path) if change.latest <= day]
        maybe = [change for change in self.changes(path) if (change.earliest or date.min) <= day < change.latest]
        blob = begun[-1].blob if begun else None
        text = None if blob is None else self.git("cat-file", "blob", blob)
        return Pair(path, day, kind, text, not maybe)


def _named_day(message: str) -> date | None:
    """The last day before 1970 that a French message names."""
    days = [(int(year), _MONTHS.index(month.lower()) + 1, int(day)) for day, month, year in _FRENCH.findall(message)]
    days += [(int(year), int(month), int(day)) for year, month, day in _ISO.findall(message)]
    return max((day for parts in days if (day := _date(parts)) is not None and day <= _EPOCH), default=None)


def _date(parts: tuple[int, int, int]) -> date | None:
    try:
        return date(*parts)
    except ValueError:
        return None


def _undisputed(dated: Sequence[tuple[int, date | None]]) -> set[int]:
    """Places whose days stand in order in whatever way the fewest others are left out. Quadratic, by counting."""
    listed = [(place, day) for place, day in dated if day is not None]
    upwards = [1] * len(listed)
    downwards = [1] * len(listed)
    for here in range(len(listed)):
        for before in range(here):
            if listed[before][1] <= listed[here][1]:
                upwards[here] = max(upwards[here], upwards[before] + 1)
    for here in reversed(range(len(listed))):
        for behind in range(here + 1, len(listed)):
            if listed[behind][1] >= listed[here][1]:
                downwards[here] = max(downwards[here], downwards[behind] + 1)
    best = max(upwards, default=0)
    ranks = Counter(up for up, down in zip(upwards, downwards, strict=True) if up + down == best + 1)
    return {
        listed[place][0]
        for place in range(len(listed))
        if upwards[place] + downwards[place] == best + 1 and ranks[upwards[place]] == 1
    }


def choose_pairs(branch: Branch, repeals: Branch | None, number: int, rng: random.Random) -> dict[str, list[Pair]]:
    """Pairs by branch, of articles with at least two versions; those of repeals of articles that were removed."""
    articles = branch.paths()
    rng.shuffle(articles)
    several = (path for path in articles if len(branch.changes(path)) > 1)
    pairs = []
    for kind, share in _SHARES.items():
        if kind == "repeal":
            continue
        for _ in range(round(number * share)):
            path = next(several, None) or rng.choice(articles)
            pairs.append(branch.pair(path, _day(kind, branch.changes(path), rng), kind))
    chosen = {branch.name: pairs}
    if repeals is not None:
        removed = _removed(repeals, rng)
        count = number - len(pairs)
        chosen[repeals.name] = [
            repeals.pair(path, day + rng.choice((0, 0, 1, 30)) * _DAY, "repeal")
            for path, day in (pair for pair, _ in zip(removed, range(count), strict=False))
        ]
    return chosen


def _removed(branch: Branch, rng: random.Random) -> Iterator[tuple[str, date]]:
    """(path, day on which it was removed)."""
    paths = branch.paths(removed=True)
    rng.shuffle(paths)
    for path in paths:
        gone = [change for change in branch.changes(path) if change.blob is None and change.latest > _EPOCH]
        if gone:
            yield path, rng.choice(gone).latest


def _day(kind: str, changes: Sequence[Change], rng: random.Random) -> date:
    first = changes[0].earliest or changes[0].latest
    if kind == "not_yet":
        return first - rng.choice((1, 1, 365, 5_000)) * _DAY
    if kind == "before_1970":
        return date(1804, 1, 1) + rng.randrange((_EPOCH - date(1804, 1, 1)).days) * _DAY
    if kind == "between":
        return _EPOCH + rng.randrange((date(2015, 3, 22) - _EPOCH).days) * _DAY
    changed = rng.choice(changes[1:] or changes).latest
    return changed if kind == "change" else changed - _DAY


async def measure(repository: Path, *, pairs: int, seed: int, repeals: str = _REPEALS) -> dict[str, object]:
    """All figures."""
    branches = {"master": Branch(repository, "master")}
    if branches["master"].has(repeals):
        branches[repeals] = Branch(repository, repeals)
    for branch in branches.values():
        branch.read_days()
    chosen = choose_pairs(branches["master"], branches.get(repeals), pairs, random.Random(seed))
    judged: list[tuple[Pair, PageAt, float]] = []
    stored_seconds = 0.0
    versions = 0
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"webrag_home": Path(folder) / "home"})
        async with Corpus.open(settings) as corpus:
            for number, (name, articles) in enumerate(chosen.items()):
                branch = branches[name]
                started = time.perf_counter()
                base = _BASE.format(branch=number)
                urls, count = await _store(corpus, branch, base, {pair.path for pair in articles})
                versions += count
                stored_seconds += time.perf_counter() - started
                for pair in articles:
                    begun = time.perf_counter()
                    at = AsOf.parse(pair.day.isoformat())
                    page = await page_at(corpus.database, urls[pair.path], at, "valid")
                    judged.append((pair, page, (time.perf_counter() - begun) * 1000))
    return _report(judged, branches, versions, stored_seconds)


async def _store(corpus: Corpus, branch: Branch, base: str, paths: set[str]) -> tuple[dict[str, str], int]:
    """Store these files; returns their URLs by path, and the number of versions."""
    history = GitFolder(branch.repository, base, revision=branch.name)
    histories = HistoryIngestor(corpus.database, history, "in-force")
    wanted = {base + _quoted(path.removeprefix(branch.folder)): path for path in paths}
    versions = 0
    for file in history.files:
        if file.url in wanted:
            versions += (await corpus.add_history(histories, file)).versions
    history.close()
    return {path: url for url, path in wanted.items()}, versions


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="/'()+,;=@!$&*:~")


def _report(
    judged: Sequence[tuple[Pair, PageAt, float]], branches: Mapping[str, Branch], versions: int, seconds: float
) -> dict[str, object]:
    kinds: dict[str, Counter[str]] = {}
    wrong = []
    for pair, page, _ in judged:
        if not pair.known:
            expected, right = "not_stated", page.certainty == "not_stated"
        elif pair.text is None:
            expected, right = "refusal", page.certainty == "not_in_force"
        else:
            expected, right = "text", page.certainty == "certain" and page.text == pair.text
        counts = kinds.setdefault(pair.kind, Counter())
        counts[expected] += 1
        counts["right"] += right
        if not right:
            wrong.append({"path": pair.path, "day": str(pair.day), "kind": pair.kind, "expected": expected,
                          "certainty": page.certainty, "note": page.note})  # fmt: skip
    times = sorted(milliseconds for _, _, milliseconds in judged)
    undated = {name: sum(first != last for first, last in branch.days.values()) for name, branch in branches.items()}
    return {
        "pairs": len(judged),
        "right": sum(counts["right"] for counts in kinds.values()),
        "by_kind": {kind: dict(counts) for kind, counts in kinds.items()},
        "wrong": wrong,
        "commits": {name: len(branch.days) for name, branch in branches.items()},
        "commits_without_a_credible_day": undated,
        "versions_stored": versions,
        "seconds_to_store": round(seconds, 1),
        "page_at_ms": {"median": round(statistics.median(times), 1), "p95": round(times[int(len(times) * 0.95)], 1)},
    }


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--repeals", default=_REPEALS, help="BRANCH:FOLDER whose history has repeals")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    report = asyncio.run(measure(chosen.repository, pairs=chosen.pairs, seed=chosen.seed, repeals=chosen.repeals))
    text = json.dumps(report, indent=1, ensure_ascii=False)
    print(text)
    if chosen.json is not None:
        chosen.json.write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
