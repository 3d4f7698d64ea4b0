"""The words that say something of an answer, in every medium alike."""

from __future__ import annotations

from webrag_core.answering.models import Answer, Band, Proof, SentenceCitation, Why
from webrag_core.percentages import percent

_VERDICTS: dict[Band, str] = {
    "high": "Answered, with high confidence",
    "medium": "Answered, with medium confidence",
    "low": "Answered in part, with low confidence",
    "likely": "No sentence is sure enough; the first passage probably answers",
    "insufficient": "No answer: nothing that was read is sure enough",
}
PROOFS: dict[Proof, str] = {
    "verbatim": "the page's own words",
    "trimmed": "the page's own words; what stands in brackets is their heading, a leading word may be left out",
    "assembled": "the cells of a table row, with the names of their columns",
}
"""What each proof means."""
WHYS: dict[Why, str] = {
    "not_found": "nothing was found for this part",
    "below_floor": "nothing sure enough was found for this part",
}
"""Why a part of the question has no answer."""
FORGOTTEN_SENTENCE = "a sentence stood here; the page that it quotes was forgotten"


def forgotten_line(answer: Answer) -> str:
    """Which quotes are gone with their pages; "" for none."""
    numbers = [f"[{number}]" for number in answer.forgotten_citations]
    if len(numbers) < 2:
        return f"quote {numbers[0]} is gone: its page was forgotten" if numbers else ""
    return f"quotes {', '.join(numbers[:-1])} and {numbers[-1]} are gone: their pages were forgotten"


def verdict(answer: Answer) -> str:
    """The headline: whether the question is answered, and where nothing could be read at all, why."""
    if answer.listed and not answer.sentences:
        count = len(answer.listed)
        return f"Found {count} passage{'' if count == 1 else 's'}, listed below; no sentence sums them up"
    if answer.sentences and answer.forgotten_sentences:
        gone = len(answer.forgotten_sentences)
        return f"{_VERDICTS[answer.band]}; {gone} of {gone + len(answer.sentences)} sentences were forgotten since"
    if answer.status == "forgotten":
        lost = "passage that probably answered was" if answer.band == "likely" else "pages that answered were"
        return f"The {lost} removed since"
    if answer.sentences or answer.highlights:
        return _VERDICTS[answer.band]
    return _VERDICTS["insufficient"] if _was_read(answer) else f"No answer: {answer.final_reason}"


def sureness(answer: Answer) -> str:
    """The confidence in percent; "" for an answer of which nothing can be said."""
    if (answer.listed and not answer.sentences) or answer.status == "forgotten":
        return ""
    return percent(answer.confidence) if answer.sentences or _was_read(answer) else ""


def _was_read(answer: Answer) -> bool:
    return bool(answer.highlights) or any(part.looked_at for part in answer.missing)


def stamp(citation: SentenceCitation) -> str:
    """Where exactly a quote stands, and what proves it."""
    current = "" if citation.current else " (the page has another text now)"
    page = "" if citation.page is None else f"page {citation.page}, "
    return (
        f"{page}version {citation.version} ({citation.version_sha256[:12]}), characters {citation.char_start} to"
        f" {citation.char_end}, last seen {citation.seen_at:%Y-%m-%d}{current}, sha256 {citation.sha256[:12]}"
    )


def sections(title: str, heading: str | None) -> list[str]:
    """The headings above a quote, which often begin with the title of its page again."""
    names = heading.split(" > ") if heading else []
    return names[1:] if names and title.startswith(names[0]) else names


def also_on(pages: int) -> str:
    """That so many other pages say the same."""
    return f"also on {pages} other page{'' if pages == 1 else 's'}"


def sentence_case(note: str) -> str:
    """A note as a sentence of its own."""
    return f"{note[:1].upper()}{note[1:]}."
