"""Pack releases of one documentation set under one address: what a site said on the day of each release.

    python -m evals.sites.build_versions                  # all releases that are absent; `make bench-history`
    python -m evals.sites.build_versions --thin           # the small ones in the repository

Releases come from Debian packages of several suites, downloaded with `apt-get` from the archives that the system is
configured for, or from `--packages FOLDER`. Archives replace packages: the version that was packed stands here, and
older ones are still at snapshot.debian.org. Each page has its release's day as WARC-Date. The thin releases hold some
of the pages. Deterministic, proved by checksums, as in `build_debian`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.sites.build_debian import accept, find_package
from evals.sites.packing import pack_package, reachable
from evals.walks.goldens import EVALS

FOLDER = EVALS / "sites" / "versions"


@dataclass(frozen=True, slots=True)
class Series:
    """A documentation set with one address. `thin` are the beginnings of the paths of the pages in the repository."""

    base: str
    start: str
    sections: tuple[str, ...]
    thin: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a series: its day, the package that holds it, and the checksums of its records, whole and thin (""
    = there is no thin one)."""

    series: str
    day: str
    package: str
    version: str
    root: str
    sha256: str
    thin_sha256: str = ""

    @property
    def date(self) -> datetime:
        """Noon of its day."""
        return datetime.fromisoformat(f"{self.day}T12:00:00").replace(tzinfo=UTC)


SERIES = {
    "python": Series(
        base="https://docs.python.org/3/",
        start="index.html",
        sections=("library/", "reference/", "tutorial/", "howto/", "using/", "faq/", "index.html"),
        thin=("library/asyncio-", "library/queue.", "library/typing.", "library/zipfile.", "library/enum.",
              "library/pathlib.", "library/json.", "library/csv.", "library/imp", "library/cgi", "library/random."),
    ),
    "git": Series(
        base="https://git.github.io/htmldocs/",
        start="git.html",
        sections=("",),
        thin=("git-c", "git-s", "gitcli"),
    ),
    "policy": Series(
        base="https://www.debian.org/doc/debian-policy/", start="index.html", sections=("",), thin=("",)
    ),
    "postgresql": Series(
        base="https://www.postgresql.org/docs/current/", start="index.html", sections=("",), thin=()
    ),
}  # fmt: skip
"""By name."""


def _python(version: str, day: str, package: str, *sums: str) -> Release:
    return Release("python", day, f"python{version}-doc", package, f"usr/share/doc/python{version}/html", *sums)


def _git(day: str, package: str, *sums: str) -> Release:
    return Release("git", day, "git-doc", package, "usr/share/doc/git-doc", *sums)


def _policy(day: str, package: str, *sums: str) -> Release:
    return Release("policy", day, "debian-policy", package, "usr/share/doc/debian-policy/policy.html", *sums)


def _postgresql(version: str, day: str, package: str, *sums: str) -> Release:
    name = f"postgresql-doc-{version}"
    return Release("postgresql", day, name, package, f"usr/share/doc/{name}/html", *sums)


RELEASES = {
    "python-3.9": _python(
        "3.9", "2021-02-19", "3.9.2-1", "a3eda47b1e26ba6525c8e21bad91f297e4a3e77295c42aa4b95102d506fc1230"
    ),
    "python-3.11": _python(
        "3.11",
        "2023-02-08",
        "3.11.2-6+deb12u8",
        "d74ff57d44f6acf94211b984dd3ea1c8dcf20439a2c4c9e4076c16cf60b3558d",
        "b641db6c30b61c5e8e2d5245f24b90f8aeddd6ddc558d4b174b3f606d9fd31ba",
    ),
    "python-3.13": _python(
        "3.13",
        "2025-06-11",
        "3.13.5-2+deb13u5",
        "8a74d33c0916761f97601f48edbd7a548e38790b02c706c3cd4fe33f415b45a7",
        "e59068ec989475d11253976ceeb950905630080137614f122ca53cbfd3292bcc",
    ),
    "python-3.14": _python(
        "3.14", "2026-10-26", "3.14.10-1", "314bdd04893170be6828b824972b4898f68dcb03b204e8d1629febca2fdcf8a7"
    ),
    "git-2.30": _git(
        "2021-03-09", "1:2.30.2-1+deb11u2", "545075478929f05239c7b014ceeb3ee38d4fd1019ab5ce985116a04813fd6b80"
    ),
    "git-2.39": _git(
        "2022-12-12",
        "1:2.39.5-0+deb12u3",
        "5746abe95a920df912b14e85199754f1146060a1db76ae396302a2a930cc36d0",
        "8c4669310f4e7ed0ef6cb1eb03b824bfe50639e5c6aaa3cc2674955bc4f73a10",
    ),
    "git-2.47": _git(
        "2025-07-08",
        "1:2.47.3-0+deb13u1",
        "49f613c8734f3c9455f14ad6355c10f5a363eca548b9d151255ab623404af3a8",
        "d037493eb246d69485c925a2d151d93ea71e74914594745601a61cc773507a1b",
    ),
    "git-2.55": _git("2026-08-02", "1:2.55.0-1", "f7710066164927df37e5dc639951e7d92313fb36ccc42f24b840e57e744e34ee"),
    "policy-4.5": _policy("2020-11-17", "4.5.1.0", "affe1ee80d7e987ad93ad5a4a0419132fe49bace7f9c8eaf011ff878d367e3cf"),
    "policy-4.6": _policy(
        "2022-12-17",
        "4.6.2.0",
        "70e61a0fbf0d547f7004934798c098a60e6049fab9a366029d0ecda65493f4db",
        "70e61a0fbf0d547f7004934798c098a60e6049fab9a366029d0ecda65493f4db",
    ),
    "policy-4.7.2": _policy(
        "2025-02-27",
        "4.7.2.0",
        "a1e813e0afd1a732998b16dda72308e279f3494aceb455733e47901b1550a8cb",
        "a1e813e0afd1a732998b16dda72308e279f3494aceb455733e47901b1550a8cb",
    ),
    "policy-4.7.4": _policy(
        "2026-03-31", "4.7.4.1", "3513c84b47a8563a89684b15937689fb1cef19d70a74fe68b04135ed1dbe9f01"
    ),
    "postgresql-13": _postgresql(
        "13", "2020-09-24", "13.16-0+deb11u1", "ff91180fde996808949c8264f2cf5adf2aa516b3f07f1423318f6563cc352bb7"
    ),
    "postgresql-15": _postgresql(
        "15", "2022-10-13", "15.18-0+deb12u1", "87000a7688f919e6a5f8eff7c82d86783ffe66a75f604eb22d4cda3290abd422"
    ),
    "postgresql-17": _postgresql(
        "17", "2024-09-26", "17.12-0+deb13u1", "b23b5b71dc6014fd750b1763fcca0451fce95cc4ecb7334828e4984128b6d4e5"
    ),
    "postgresql-18": _postgresql(
        "18", "2025-09-25", "18.6-3", "7052a0b9c4166a1b973668cc03ef5b855edc90801cf288ceffffe3b2637db58c"
    ),
}
"""By name; those of a series in the order of their days."""


def target_of(name: str, *, thin: bool, folder: Path = FOLDER) -> Path:
    """The file of a release."""
    return folder / f"{name}{'-thin' if thin else ''}.warc.gz"


def build(name: str, packages: Path, target: Path, *, thin: bool) -> int:
    """Pack one release from a package in `packages`, which is downloaded into it unless it is there, and return the
    number of responses. Ends the program when the records are not those of the checksum."""
    release, series = RELEASES[name], SERIES[RELEASES[name].series]

    def choose(root: Path) -> list[str]:
        pages = reachable(root, series.start, base=series.base, belongs=lambda page: page.startswith(series.sections))
        return sorted(page for page in pages if page.startswith(series.thin if thin else series.sections))

    package = find_package(release.package, release.version, packages)
    packed = target.with_suffix(".part")
    packed.parent.mkdir(parents=True, exist_ok=True)
    responses = pack_package(package, packed, base=series.base, root=release.root, choose=choose, date=release.date)
    accept(name, packed, target, release.thin_sha256 if thin else release.sha256)
    return responses


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RELEASES))
    parser.add_argument("--thin", action="store_true", help="the small releases of the repository")
    parser.add_argument("--packages", type=Path, help="folder of packages")
    parser.add_argument("--target", type=Path, default=FOLDER, help="folder for the releases")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in RELEASES]
    if unknown:
        parser.error(f"no release {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as downloads:
        for name in chosen.names or RELEASES:
            if chosen.thin and not RELEASES[name].thin_sha256:
                continue
            target = target_of(name, thin=chosen.thin, folder=chosen.target)
            if chosen.names or not target.is_file():
                responses = build(name, chosen.packages or Path(downloads), target, thin=chosen.thin)
                print(f"{responses} responses in {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
