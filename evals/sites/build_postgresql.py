"""Pack the PostgreSQL 15 manual (DocBook) as a frozen site: Debian package -> WARC of HTTP responses under real URLs.

    apt-get download postgresql-doc-15
    python -m evals.sites.build_postgresql postgresql-doc-15_*.deb evals/sites/postgresql-15.warc.gz

The whole manual is packed, release notes and internals included: every page, its pictures and its style sheet. The
package holds no robots.txt. The licence text is one of the pages, legalnotice.html.

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from evals.sites.packing import extract, page_url, write_warc

BASE = "https://www.postgresql.org/docs/15/"
_ROOT = "usr/share/doc/postgresql-doc-15/html"


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses. Ends the program when the package does not
    hold the manual."""
    with tempfile.TemporaryDirectory() as folder:
        root = extract(package, Path(folder), _ROOT)
        files = sorted(path for path in root.rglob("*") if path.is_file())
        write_warc(target, [(page_url(BASE, path.relative_to(root).as_posix()), path) for path in files])
    return len(files)


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    print(f"{pack(arguments.package, arguments.target)} responses in {arguments.target}")


if __name__ == "__main__":
    main()
