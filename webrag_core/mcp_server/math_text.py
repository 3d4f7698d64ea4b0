"""MathML as TeX, as far as its structure says; else as its words."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_SPACE = re.compile(r"\s+")
_DEEPEST = 40


def as_tex(formula: HtmlElement) -> str:
    """`$…$` from the author's own TeX (annotation or alttext), else from the structure."""
    for annotation in formula.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and (annotation.text or "").strip():
            return f"${_one_line(annotation.text or '')}$"
    written = formula.get("alttext")
    tex = _one_line(written if written and written.strip() else _tex(formula, 0))
    return f"${tex}$" if tex else ""


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip().strip("$").strip()


def _tex(element: HtmlElement, depth: int) -> str:
    if depth > _DEEPEST:
        return str(element.text_content())
    name = str(element.tag).rpartition(":")[2].lower()
    parts = [
        _tex(child, depth + 1)
        for child in element
        if isinstance(child.tag, str) and child.tag.lower() not in ("annotation", "annotation-xml")
    ]
    match name, parts:
        case "mfrac", [over, under]:
            return rf"\frac{{{over}}}{{{under}}}"
        case "msup", [base, high]:
            return f"{_grouped(base)}^{{{high}}}"
        case "msub", [base, low]:
            return f"{_grouped(base)}_{{{low}}}"
        case (("msubsup" | "munderover"), [base, low, high]):
            return f"{_grouped(base)}_{{{low}}}^{{{high}}}"
        case "munder", [base, low]:
            return f"{_grouped(base)}_{{{low}}}"
        case "mover", [base, high]:
            return rf"\overset{{{high}}}{{{base}}}"
        case "msqrt", _:
            return rf"\sqrt{{{' '.join(parts)}}}"
        case "mroot", [base, index]:
            return rf"\sqrt[{index}]{{{base}}}"
        case "mtable", rows:
            return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"
        case "mtr", cells:
            return " & ".join(cells)
        case "mtext", _:
            return rf"\text{{{_one_line(element.text_content())}}}"
        case "mfenced", _:
            return (element.get("open") or "(") + ", ".join(parts) + (element.get("close") or ")")
    own = [element.text or "", *parts] if parts else [element.text_content()]
    return " ".join(part for part in (_SPACE.sub(" ", part).strip() for part in own) if part)


def _grouped(base: str) -> str:
    return f"{{{base}}}" if len(base) > 1 and " " in base else base
