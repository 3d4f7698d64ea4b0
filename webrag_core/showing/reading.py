"""Convert stored Markdown to text for a model: no link targets, no HTML tags."""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|blockquote|body|br|caption|center|cite|code|col|colgroup|dd|del|details|dfn|div|dl|dt"
    r"|em|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|samp"
    r"|section|small|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|wbr)"
    r"(?:\s[^<>]*)?/?>|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_BREAKING = re.compile(
    r"</?(?:blockquote|br|dd|details|div|dl|dt|figure|h[1-6]|hr|li|ol|p|section|table|tr|ul)\b", re.IGNORECASE
)


def without_html(text: str) -> str:
    """Strip HTML tags; images become their descriptions, other angle brackets stay."""
    if "<" not in text:
        return text
    return _TAG.sub(_bare, text)


def _bare(match: re.Match[str]) -> str:
    tag = match[0]
    if tag[:4].lower() == "<img":
        alt = _ALT.search(tag)
        words = unescape((alt[1] or alt[2]) if alt else "").strip()
        return f"(image: {words})" if words else ""
    return "\n" if _BREAKING.match(tag) else ""


_CODE_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_INLINE = re.compile(
    r"(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<image>!?)\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*+)\]\((?P<target>(?:[^()\\]|\\.|\([^()]*\))*+)\)"
)
_BLANK = re.compile(r"\n{3,}")
_LOOSE = re.compile(r"^([ \t]*(?:[-*+]|\d{1,3}[.)])[ \t].*)\n\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE)
_ASKS_FOR_ADDRESS = re.compile(
    r"\b(urls?|links?|downloads?|address(?:es)?|repositor(?:y|ies)|repos?|websites?|homepages?|where)\b", re.IGNORECASE
)


def wants_links(query: str) -> bool:
    """True when the query may ask for link targets."""
    return _ASKS_FOR_ADDRESS.search(query[:10_000]) is not None


def readable(markdown: str, *, links: bool = False) -> str:
    """Strip link targets (unless `links`) and HTML; images become their descriptions, code stays unchanged."""
    parts: list[str] = []
    prose: list[str] = []
    closing: str | None = None
    for line in markdown.split("\n"):
        fence = _CODE_FENCE.match(line)
        if closing is None and fence is None:
            prose.append(line)
            continue
        if prose:
            parts.append(_prose("\n".join(prose), links=links))
            prose = []
        parts.append(line.rstrip())
        if closing is None and fence is not None:
            closing = fence[1]
        elif fence is not None and closing is not None and fence[1].startswith(closing):
            closing = None
    if prose:
        parts.append(_prose("\n".join(prose), links=links))
    if closing is not None:
        parts.append(closing)  # the passage ends within code
    return _BLANK.sub("\n\n", "\n".join(parts)).strip("\n")


def slice_of(text: str, start: int, end: int) -> str:
    """`text[start:end]`; one that begins within code begins with the line that opens the code."""
    opening: str | None = None
    for line in text[:start].split("\n"):
        fence = _CODE_FENCE.match(line)
        if opening is None and fence is not None:
            opening = line.strip()
        elif opening is not None and fence is not None and fence[1].startswith(opening[:3]):
            opening = None
    return text[start:end] if opening is None else f"{opening}\n{text[start:end]}"


def _prose(text: str, *, links: bool) -> str:
    def shown(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        if match["escaped"] is not None:
            return match["escaped"]
        words = _INLINE.sub(shown, match["text"])
        if match["image"]:
            return f"(image: {words})" if words.strip() else ""
        target = match["target"].split(" ", 1)[0]
        return f"{words} ({target})" if links and target else words

    text = _LOOSE.sub(r"\1\n", _RULE.sub("", _INLINE.sub(shown, without_html(text))))
    return "\n".join(line.rstrip() for line in text.split("\n"))
