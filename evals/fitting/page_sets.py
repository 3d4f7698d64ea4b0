"""Public sets of pages with their main content marked, as their own repositories lay them out.

None of them is part of this repository; `read_set` is given the folder of a checkout and says by its files which it is:

- WCXB: `{dev,test}/{html,ground-truth}`, 2,008 pages of seven kinds with the whole text (CC BY 4.0)
- trafilatura's evaluation: `evaldata.json` among its tests, 990 pages with snippets that belong to the content or not
- the article extraction benchmark: `ground-truth.json` and `html`, 181 articles with the whole text (MIT)

Pages are halved by domain: "dev" is what anything may be fitted on, "test" is what is reported. WCXB has halves of its
own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

Half = Literal["dev", "test"]


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """One page and what is known of its content: the whole `text`, or snippets `within` it and `outside`."""

    key: str
    url: str
    kind: str
    half: Half
    html: bytes
    text: str | None = None
    within: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    is_application: bool = False
    """Marked as a single-page application, which scripts fill."""

    @property
    def domain(self) -> str:
        """The last two labels of the host."""
        return _domain(self.url)


def read_set(folder: Path) -> tuple[str, list[MarkedPage]]:
    """Return the name of a set and its pages. Raises FileNotFoundError for a folder that is none of the three."""
    if (folder / "tests/evaldata.json").exists():
        return "trafilatura", _trafilatura(folder / "tests")
    if (folder / "dev/ground-truth").exists():
        return "wcxb", [page for half in ("dev", "test") for page in _wcxb(folder, half)]
    if (folder / "ground-truth.json").exists():
        return "articles", _articles(folder)
    raise FileNotFoundError(f"{folder} is not laid out as one of the sets of marked pages")


def _trafilatura(folder: Path) -> list[MarkedPage]:
    pages = []
    for url, item in json.loads((folder / "evaldata.json").read_text(encoding="utf-8")).items():
        path = next(p for place in ("cache", "eval") if (p := folder / place / item["file"]).exists())
        pages.append(
            MarkedPage(
                key=url,
                url=url,
                kind="page",
                half=_half(url),
                html=path.read_bytes(),
                within=tuple(item["with"]),
                outside=tuple(item["without"]),
            )
        )
    return pages


def _wcxb(folder: Path, half: Half) -> list[MarkedPage]:
    kinds: dict[str, Any] = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))["files"]
    pages = []
    for path in sorted((folder / half / "ground-truth").glob("*.json")):
        record, known = json.loads(path.read_text(encoding="utf-8")), kinds[path.stem]
        pages.append(
            MarkedPage(
                key=path.stem,
                url=record.get("url") or f"https://{known['domain']}/",
                kind=known["page_type"],
                half=half,
                html=gzip.decompress((folder / half / "html" / f"{path.stem}.html.gz").read_bytes()),
                text=record["ground_truth"].get("main_content") or "",
                is_application=bool(known["spa"]),
            )
        )
    return pages


def _articles(folder: Path) -> list[MarkedPage]:
    pages = []
    for key, item in sorted(json.loads((folder / "ground-truth.json").read_text(encoding="utf-8")).items()):
        html = gzip.decompress((folder / f"html/{key}.html.gz").read_bytes())
        pages.append(
            MarkedPage(key, item["url"], "article", _half(item["url"]), html, text=item.get("articleBody", ""))
        )
    return pages


def _half(url: str) -> Half:
    return "dev" if hashlib.sha256(_domain(url).encode()).digest()[0] % 2 == 0 else "test"


def _domain(url: str) -> str:
    return ".".join((urlsplit(url).hostname or "").lower().split(".")[-2:])
