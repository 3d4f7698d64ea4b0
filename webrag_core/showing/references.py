"""The pages that an answer quotes, as programs for references read them: CSL-JSON, BibTeX and RIS.

One reference for each version of a page, with the words that were quoted and the day on which the page was seen so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from webrag_core.answering.models import Answer, SentenceCitation
from webrag_core.page_text import one_line
from webrag_core.showing.passage import passage_line

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "$&#%_"},
}
_NOT_IN_KEY = re.compile(r"[^a-z0-9.-]+")
_LONGEST_HOST = 60
_NOT_IN_URL = re.compile(r"[{}\\]")


@dataclass(slots=True)
class Reference:
    """A version of a page. `quotes` are its words, in the order of their numbers; `archive_url` is where a web archive
    shows it, None where it was read from the site itself."""

    key: str
    title: str
    url: str
    archive_url: str | None
    seen: date
    version: int
    sha256: str
    quotes: list[str] = field(default_factory=list)

    @property
    def note(self) -> str:
        """Its quotes, and which text they are of."""
        quoted = " ".join(f"“{quote}”" for quote in self.quotes)
        return f"{quoted} (version {self.version}, sha256 {self.sha256[:12]})"


def references(answer: Answer) -> list[Reference]:
    """The pages that the answer rests on: those of its sentences and rows, else of the passage that probably answers.

    An answer that was not found rests on nothing: the passages near the question are no references.
    """
    used = {number for sentence in answer.sentences for number in sentence.citations}
    used |= {row.citation for row in answer.listed}
    if not used:
        used = {highlight.citation for highlight in answer.highlights if highlight.likely}
    made: dict[tuple[str, int], Reference] = {}
    for citation in answer.citations:
        if citation.number not in used:
            continue
        reference = made.setdefault(
            (citation.url, citation.version),
            Reference(
                key=reference_key(citation),
                title=one_line(citation.title or citation.url),
                url=one_line(citation.url),
                archive_url=None if citation.archive_url is None else one_line(citation.archive_url),
                seen=citation.seen_at.date(),
                version=citation.version,
                sha256=citation.version_sha256,
            ),
        )
        reference.quotes.append(passage_line(citation.quote))
    return list(made.values())


def reference_key(citation: SentenceCitation) -> str:
    """The key of a version of a page: host, year in which it was first seen, and eight digits of a digest of address
    and text. It is the same in every answer, and takes no character that programs for references refuse."""
    host = _NOT_IN_KEY.sub("-", citation.url.partition("://")[2].partition("/")[0].removeprefix("www.")).strip("-.")
    digest = hashlib.sha256(f"{citation.url}\n{citation.version_sha256}".encode()).hexdigest()[:8]
    return f"{host[:_LONGEST_HOST] or 'page'}-{(citation.first_seen or citation.seen_at).year}-{digest}"


def csl_json(answer: Answer) -> str:
    """A list of items as citeproc reads it (https://citeproc-js.readthedocs.io/en/latest/csl-json/markup.html)."""
    items = [
        {
            "id": reference.key,
            "type": "webpage",
            "title": reference.title,
            "URL": reference.url,
            "accessed": {"date-parts": [[reference.seen.year, reference.seen.month, reference.seen.day]]},
            **({} if reference.archive_url is None else {"archive_location": reference.archive_url}),
            "note": reference.note,
        }
        for reference in references(answer)
    ]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def bibtex(answer: Answer) -> str:
    """Entries of the type `online`, as BibLaTeX has it."""
    return "".join(
        f"@online{{{reference.key},\n  title = {{{_tex(reference.title)}}},\n  url = {{{_tex_url(reference.url)}}},\n"
        f"  urldate = {{{reference.seen:%Y-%m-%d}}},\n{_archived(reference)}  note = {{{_tex(reference.note)}}},\n}}\n"
        for reference in references(answer)
    )


def ris(answer: Answer) -> str:
    """Records of the type ELEC, a tag a line."""
    return "".join(
        f"TY  - ELEC\r\nID  - {reference.key}\r\nTI  - {reference.title}\r\n"
        f"UR  - {reference.url}\r\n"
        + ("" if reference.archive_url is None else f"AV  - {reference.archive_url}\r\n")
        + f"Y2  - {reference.seen:%Y/%m/%d}\r\n"
        f"N1  - {reference.note}\r\nER  - \r\n"
        for reference in references(answer)
    )


WRITERS: Mapping[str, tuple[Callable[[Answer], str], str]] = {
    "csl.json": (csl_json, "application/vnd.citationstyles.csl+json"),
    "bib": (bibtex, "application/x-bibtex"),
    "ris": (ris, "application/x-research-info-systems"),
}
"""Writer and media type by the ending of the file."""


def _archived(reference: Reference) -> str:
    if reference.archive_url is None:
        return ""
    return f"  addendum = {{Archived copy: \\url{{{_tex_url(reference.archive_url)}}}}},\n"


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def _tex_url(url: str) -> str:
    """A URL as the field takes it letter for letter; what would end the field is escaped as URLs escape it."""
    return _NOT_IN_URL.sub(lambda match: f"%{ord(match[0]):02X}", url)
