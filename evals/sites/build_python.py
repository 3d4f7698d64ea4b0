"""Pack the Python 3.11 documentation as a frozen site: Debian package -> WARC of HTTP responses under real URLs.

    apt-get download python3.11-doc
    python -m evals.sites.build_python python3.11-doc_*.deb evals/sites/python-3.11.warc.gz

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from evals.sites.packing import extract, page_url, write_warc

BASE = "https://docs.python.org/3.11/"
_ROOT = "usr/share/doc/python3.11/html"
_LEFT_OUT = ("_sources/", "_downloads/")


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses."""
    with tempfile.TemporaryDirectory() as folder:
        root = extract(package, Path(folder), _ROOT)
        files = sorted(
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix != ".gz" and not _relative(path, root).startswith(_LEFT_OUT)
        )
        write_warc(target, [(page_url(BASE, _relative(path, root)), path) for path in files])
    return len(files)


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    print(f"{pack(arguments.package, arguments.target)} responses in {arguments.target}")


if __name__ == "__main__":
    main()
