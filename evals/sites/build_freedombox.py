"""Pack the handbook that a FreedomBox shows its owner, out of the Debian package freedombox-doc-en.

    python -m evals.sites.build_freedombox freedombox-doc-en_25.9.3+deb13u1_all.deb evals/sites/freedombox-25.9.warc.gz

The package holds each page without the frame of the box's interface; a menu, a title and a list of all pages are added.
Left out are the handbook on a single page and the notes of all releases. Deterministic.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import lxml.html

from evals.sites.packing import run_command, write_warc

BASE = "https://freedombox.example/plinth/help/manual/en/"
FROZEN = datetime(2025, 9, 1, tzinfo=UTC)
LEFT_OUT = {"freedombox-manual", "ReleaseNotes"}
MENU = ("Introduction", "PioneerEdition", "Hardware", "QuickStart", "Download", "GettingHelp", "Contribute")


def pack(package: Path, target: Path) -> int:
    """Write `target` from the package and return the number of responses."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["dpkg-deb", "--extract", str(package), name], check=True)
        files, entries = [], []
        for part in sorted((folder / "usr/share/freedombox/manual/en").glob("*.part.html")):
            page = part.name.removesuffix(".part.html")
            if page not in LEFT_OUT:
                body = part.read_text(encoding="utf-8")
                heading = str(
                    lxml.html.fromstring(body).xpath("string(//h2[@style])")
                )  # the first h2 is the file's name
                title = " ".join(heading.split()) or page
                part.write_text(framed(title, body), encoding="utf-8")
                files.append((BASE + page, part))
                entries.append(f'<li><a href="{page}">{escape(title)}</a></li>')
        start = folder / "index.html"
        start.write_text(framed("FreedomBox Manual", f"<h1>All pages</h1><ul>{''.join(entries)}</ul>"), "utf-8")
        files.insert(0, (BASE, start))
        for _, path in files:
            os.utime(path, (FROZEN.timestamp(), FROZEN.timestamp()))  # the date in the headers is the file's
        write_warc(target, files, FROZEN)
    return len(files)


def framed(title: str, body: str) -> str:
    """A whole page with the menu."""
    menu = "".join(f'<li><a href="{BASE}{page}">{page}</a></li>' for page in MENU)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - FreedomBox</title>'
        f'</head>\n<body><header><nav><a href="{BASE}">Manual</a><ul>{menu}</ul></nav></header>\n<main>{body}</main>\n'
        "<footer>FreedomBox is a Debian Pure Blend. CC BY-SA 4.0.</footer></body></html>\n"
    )


if __name__ == "__main__":
    run_command(__doc__, pack)
