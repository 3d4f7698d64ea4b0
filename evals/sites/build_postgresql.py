"""Pack the PostgreSQL 15 manual (DocBook) as a frozen site: Debian package -> WARC of HTTP responses under real URLs.

    apt-get download postgresql-doc-15
    python -m evals.sites.build_postgresql postgresql-doc-15_*.deb evals/sites/postgresql-15.warc.gz

The whole manual is packed, release notes and internals included: every page, its pictures and its style sheet. The
package holds no robots.txt. The licence text is one of the pages, legalnotice.html.

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

from pathlib import Path

from evals.sites.packing import files_below, pack_package, run_command

BASE = "https://www.postgresql.org/docs/15/"
_ROOT = "usr/share/doc/postgresql-doc-15/html"


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses. Ends the program when the package does not
    hold the manual."""
    return pack_package(package, target, base=BASE, root=_ROOT, choose=files_below)


if __name__ == "__main__":
    run_command(__doc__, pack)
