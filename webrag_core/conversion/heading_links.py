"""Links of headings that are no text of theirs: to the heading itself, and to a form that edits its section."""

from __future__ import annotations

import re
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.whitespace import without_invisible

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MAX_BESIDE = 2  # elements beside a heading in its box that are looked at
_MAX_LABEL = 60  # characters of such links, with brackets, in any language
_BESIDE = {"a", "span", "small", "sup", "div"}
_PERMALINK = re.compile(
    r"[\s#¶§\u221e\u2693\u26d3\ufe0f\U0001f517\U0001f516\ue000-\uf8ff]*"
    r"|(?:perma(?:nent )?link|(?:direct |copy |anchor )?link|anchor|lien permanent|enlace permanente"
    r"|permanenter link)(?: (?:to|for) \S.*)?",
    re.IGNORECASE,
)
_EDITS = re.compile(r"[?&;](?:action|veaction|do)=(?:edit|editsection|submit)\b", re.IGNORECASE)
_EDITS_BY_PATH = re.compile(r"/_?edit(?:[/?]|$)", re.IGNORECASE)
_NAMED_EDIT = re.compile(r"(?:^|[\s_-])edit(?:$|[\s_-]|section|link|button)|editsection", re.IGNORECASE)
_INK = re.compile(r"[^\W_]")
_EMPTY_BRACKETS = re.compile(r"(?<!\s)\s*(?:\[[\s|·•/]*\]|\([\s|·•/]*\))\Z")


def drop_heading_links(root: HtmlElement) -> None:
    """Take out of headings, and from beside them, permalinks and links that edit a section, with their brackets.

    A heading that is nothing but such a link keeps it. The ids of what goes stay with the heading.
    """
    for heading in list(root.iter(*_HEADINGS)):
        taken = [box for box in heading.iterdescendants("span", "small", "div") if _names_edit(box)]
        taken += [link for link in heading.iter("a") if _is_no_text(link, is_inside=True)]
        taken = [each for each in taken if _ink(heading) > _ink(each)]
        bracketed = [text for element in taken if (text := _bracket_before(element)) is not None]
        for element in taken:
            _take_out(element, heading)
        for element, place in bracketed:
            words = (getattr(element, place) or "").rstrip()
            setattr(element, place, words[:-_MAX_LABEL] + _EMPTY_BRACKETS.sub("", words[-_MAX_LABEL:]))
        _drop_beside(heading)


def _drop_beside(heading: HtmlElement) -> None:
    for element in list(islice(heading.itersiblings(), _MAX_BESIDE)):
        if element.tag not in _BESIDE or (element.tail or "").strip():
            return
        links = list(islice(element.iter("a"), 5))
        if not links or len(element.text_content()) > _MAX_LABEL:
            return
        if sum(map(_ink, links)) < _ink(element) or not all(_is_no_text(link, is_inside=False) for link in links):
            return
        _take_out(element, heading)


def _is_no_text(link: HtmlElement, *, is_inside: bool) -> bool:
    """Whether a link is a permalink or edits a section. Beside a heading other links may stand: more is asked there."""
    href = link.get("href") or ""
    text = " ".join(without_invisible(link.text_content()).split())
    if not href or len(text) > _MAX_LABEL:
        return False
    if _EDITS.search(href) or (_EDITS_BY_PATH.search(href) and (is_inside or _names_edit(link))):
        return True
    shows_image = any(image.get("alt") for image in link.iter("img"))
    return "#" in href and not shows_image and _PERMALINK.fullmatch(text) is not None


def _names_edit(element: HtmlElement) -> bool:
    names = element.get("class")
    return names is not None and _NAMED_EDIT.search(names) is not None and len(element.text_content()) <= _MAX_LABEL


def _bracket_before(link: HtmlElement) -> tuple[HtmlElement, str] | None:
    """The text that opens a bracket right before a link: (element, `text` or `tail`); None where none does."""
    before, parent = link.getprevious(), link.getparent()
    element, place = (parent, "text") if before is None else (before, "tail")
    text = (getattr(element, place) or "").rstrip() if element is not None else ""
    return (element, place) if text.endswith(("[", "(")) else None


def _ink(element: HtmlElement) -> int:
    """Letters and digits of an element."""
    return len(_INK.findall(element.text_content()))


def _take_out(element: HtmlElement, heading: HtmlElement) -> None:
    """Remove an element, if it still stands there."""
    if element.getparent() is None:
        return
    names = [str(name) for name in element.xpath("descendant-or-self::*/@id | descendant-or-self::a/@name")]
    element.drop_tree()
    for name in names:
        kept = HtmlElement()
        kept.tag = "a"
        kept.set("id", name)
        heading.append(kept)
