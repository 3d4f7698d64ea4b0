"""Pack the books of the Rust 1.63 documentation as a frozen site: Debian package -> WARC under real URLs.

    apt-get download rust-doc
    python -m evals.sites.build_rust rust-doc_*.deb evals/sites/rust-1.63.warc.gz

The cut: the front page and whatever its visitors reach by links without leaving the books (mdBook) and the pages
beside the front page (rustdoc). Left out are the API pages (std, core, alloc, ...), the Unstable and the Embedded
Book, superseded editions of the Book, and each book's print.html: one page that repeats the whole book and would
make every question a matter of one click. Links to them are answered like a 404. Pictures of the pages kept, robots.txt
and the licence texts are packed too.

Deterministic: the same package gives the same file. Needs `dpkg-deb` and the dev requirements (warcio).
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path, PurePosixPath

import lxml.html

from evals.sites.packing import linked_files, pack_package, reachable, run_command

BASE = "https://doc.rust-lang.org/"
_ROOT = "usr/share/doc/rust-doc/html"
_BOOKS = ("book", "edition-guide", "nomicon", "reference", "rust-by-example", "rustc", "rustdoc")
_SUPERSEDED = ("book/first-edition/", "book/second-edition/", "book/2018-edition/")
_BESIDE = ("COPYRIGHT.txt", "LICENSE-MIT.txt", "LICENSE-APACHE.txt", "robots.txt")


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses."""
    return pack_package(package, target, base=BASE, root=_ROOT, choose=_chosen)


def _chosen(root: Path) -> list[str]:
    _unpack_text(root / "LICENSE-APACHE.txt.gz")
    pages = reachable(root, "index.html", base=BASE, belongs=_belongs)
    pictures = {picture for page in pages for picture in _pictures(root, page)}
    return sorted({*pages, *pictures, *_BESIDE})


def _unpack_text(packed: Path) -> None:
    """Debian compresses long texts; on the site they are plain."""
    plain = packed.with_suffix("")
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    modified = packed.stat().st_mtime
    os.utime(plain, (modified, modified))


def _pictures(root: Path, page: str) -> set[str]:
    """Files, relative to `root`, of a page's pictures."""
    document = lxml.html.document_fromstring((root / page).read_bytes())
    files = linked_files(document, page, BASE, tag="img", attribute="src")
    return {name for name in files if (root / name).is_file()}


def _belongs(name: str) -> bool:
    parts = PurePosixPath(name).parts
    is_in_scope = len(parts) == 1 or parts[0] in _BOOKS
    return is_in_scope and parts[-1] != "print.html" and not name.startswith(_SUPERSEDED)


if __name__ == "__main__":
    run_command(__doc__, pack)
