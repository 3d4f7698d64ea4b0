"""What stands around a block of code and belongs to its frame: the name of its language, "copy code"."""

from __future__ import annotations

import re
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.shown.panels import HEADINGS, folded_text

_LANGUAGE = re.compile(r"(?:language|lang|highlight|brush|sourceCode)-?:?\s*([\w+#.]+)")
_LABEL = re.compile(r"(?:^|[\s_-])(?:lang|language|code-?lang|code-?header__lang)(?=$|[\s_-])")
_COPY = re.compile(
    r"(?:copy|copied!?|copy (?:code|snippet|text|to clipboard)|(?:code )?kopieren|kopiert|copier(?: le code)?|copié"
    r"|copiar(?: código)?|copiado|copia(?: codice)?|copiato|kopiëren|kopieer|kopiuj|kopiera|(?:с)?копировать|コピー"
    r"|コードをコピー|复制(?:代码)?|複製|복사)",
    re.IGNORECASE,
)
_FRAME = {"div", "span", "figure", "figcaption", "header", "p"}
_MAX_UP = 3
_MAX_LABEL = 40


def take_code_labels(root: HtmlElement) -> list[HtmlElement]:
    """Return the labels beside blocks of code that only name the language or an action, which are to be dropped."""
    labels: list[HtmlElement] = []
    for pre in root.iter("pre"):
        element = pre
        for _ in range(_MAX_UP):
            for sibling in (*islice(element.itersiblings(preceding=True), 3), *islice(element.itersiblings(), 2)):
                if not isinstance(sibling.tag, str) or sibling.tag not in _FRAME or (sibling.tail or "").strip():
                    break
                if next(sibling.iter("pre", "code", "img", "table", *HEADINGS), None) is not None:
                    break
                labels += _labels(sibling, pre)
            parent = element.getparent()
            if parent is None or parent.tag not in ("div", "figure") or len(parent) > 4:
                break
            element = parent
    return labels


def _labels(box: HtmlElement, pre: HtmlElement) -> list[HtmlElement]:
    """A box beside code, or the parts of it, that are labels."""
    if _is_label(box, pre):
        return [box]
    parts = [part for part in islice(box.iterdescendants("span", "div", "p", "a"), 6) if _is_label(part, pre)]
    return parts if len("".join(islice(box.itertext(), 20)).strip()) <= 2 * _MAX_LABEL else []


def _is_label(element: HtmlElement, pre: HtmlElement) -> bool:
    text = folded_text(element)
    if not text or len(text) > _MAX_LABEL:
        return False
    if _COPY.fullmatch(text):
        return True
    return bool(_LABEL.search(element.get("class") or "")) or text.lower() in _languages(pre)


def _languages(pre: HtmlElement) -> set[str]:
    """The names of languages in the classes of a block and of what stands in and around it."""
    places = [pre, *islice(pre.iter("code"), 1), *islice(pre.iterancestors(), 2)]
    names = {name.lower() for place in places for name in _LANGUAGE.findall(place.get("class") or "")}
    return names | {(place.get("data-lang") or place.get("data-language") or "").lower() for place in places} - {""}
