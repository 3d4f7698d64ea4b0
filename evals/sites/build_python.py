"""Pack the Python 3.11 documentation as a frozen site: Debian package -> WARC of HTTP responses under real URLs.

    apt-get download python3.11-doc
    python -m evals.sites.build_python python3.11-doc_*.deb evals/sites/python-3.11.warc.gz

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

from pathlib import Path

from evals.sites.packing import files_below, pack_package, run_command

BASE = "https://docs.python.org/3.11/"
_ROOT = "usr/share/doc/python3.11/html"
_LEFT_OUT = ("_sources/", "_downloads/")


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses."""
    return pack_package(package, target, base=BASE, root=_ROOT, choose=_chosen)


def _chosen(root: Path) -> list[str]:
    return [name for name in files_below(root) if not name.endswith(".gz") and not name.startswith(_LEFT_OUT)]


if __name__ == "__main__":
    run_command(__doc__, pack)
