"""Cut the small frozen site of `webrag demo` out of the Python one: two chapters, what its run looks at, the licence.

    python -m evals.sites.cut_demo evals/sites/python-3.11.warc.gz evals/sites/demo.warc.gz

It goes with the installed package; the whole sites do not. Records are copied as they are, byte for byte.
"""

from __future__ import annotations

import re
from pathlib import Path

from fastwarc.warc import ArchiveIterator

from evals.sites.build_python import BASE
from evals.sites.packing import run_command

_CHOSEN = re.compile(
    re.escape(BASE)
    + r"(?:|license\.html|copyright\.html"
    + r"|library/(?:numeric|numbers|math|cmath|decimal|fractions|random|statistics|secrets)\.html"
    + r"|library/(?:asyncio|asyncio-(?:dev|exceptions|future|queue|runner|stream|subprocess|sync|task)|queue)\.html"
    # what else the demo's run looks at
    + r"|py-modindex\.html|genindex\.html|library/|library/(?:cgi|difflib|exceptions|functions|lzma"
    + r"|multiprocessing|posix|selectors|stdtypes|string)\.html)"
)


def cut(site: Path, target: Path) -> int:
    """Write `target` from a frozen site and return the number of responses."""
    content = site.read_bytes()
    with site.open("rb") as stream:
        records = [(item.stream_pos, item.headers.get("WARC-Target-URI") or "") for item in ArchiveIterator(stream)]
    ends = [start for start, _ in records[1:]] + [len(content)]
    chosen = [content[start:end] for (start, url), end in zip(records, ends, strict=True) if _CHOSEN.fullmatch(url)]
    target.write_bytes(b"".join(chosen))
    return len(chosen)


if __name__ == "__main__":
    run_command(__doc__, cut)
