"""What stands in a box of code and is no code: buttons, tooltips, and the prompts that a shell writes."""

from __future__ import annotations

import re
from functools import lru_cache

from lxml import etree
from lxml.html import HtmlElement

_COPY = re.compile(
    r"(?:^|[\s_-])(?:copy|copied|copybtn|clipboard)(?:$|\s|[_-]?(?:btn|button|code|icon|text)\b)", re.IGNORECASE
)
_TOOLTIP = re.compile(r"(?:^|[\s_-])(?:tooltips?|tooltiptext|ttc|popover|twoslash-popup-\w+|tippy-\w+)(?:$|[\s_-])")
_PROMPT = re.compile(r"(?:^|[\s_-])(?:gp|prompt_?|ps1|shell-symbol)(?:$|[\s_-])", re.IGNORECASE)
_UNSELECTABLE = re.compile(r"user-select\s*:\s*none", re.IGNORECASE)
_UNSELECTABLE_NAMES = re.compile(r"(?:^|\s)(?:select-none|user-select-none|no-?select|unselectable)(?:$|\s)")
# those of interpreters (>>>, db=#, mysql>) stay: they part what is typed from what is printed
_SHELL_PROMPT = re.compile(
    "(?:[^\n]{0,80}?(?<![=*!'\"(-])[$#%\u276f\u279c\u03bb]|(?:PS )?[A-Za-z]:\\\\[^\n]{0,80}?>|PS [^\n]{0,80}?>|>)\\s*"
)
_GOES_ON = ("\\", "`", "^", "&&", "||", "|", "{", "(", ",")  # ends of a line that goes on in the next
_MAX_LABEL = 40  # characters of a button


def drop_code_controls(code: HtmlElement) -> None:
    """Take buttons and tooltips out of a box of code, and shell prompts that are marked as such where no output is
    shown: there they part what is typed from what is printed."""
    elements = list(code.iterdescendants(etree.Element))
    prompts = {element for element in elements if _is_prompt(element)}
    if prompts and (not _holds_more(code, prompts) or _shows_output(code, prompts)):
        prompts.clear()  # the prompt is what is shown, or tells input from output
    for element in elements:
        if element.getparent() is None:
            continue
        if element in prompts:
            if not element.text_content()[-1:].isspace() and (element.tail or "")[:1] in (" ", "\xa0"):
                element.tail = (element.tail or "")[1:]
            element.drop_tree()
        elif _is_control(element):
            element.drop_tree()


def is_tooltip(element: HtmlElement) -> bool:
    """Whether an element is shown only while a pointer rests on a word of the code."""
    return element.get("role") == "tooltip" or _kind(element.get("class") or "") == "tooltip"


def _is_control(element: HtmlElement) -> bool:
    if element.tag == "button" or element.get("role") == "button" or is_tooltip(element):
        return True
    return _kind(element.get("class") or "") == "copy" and len(element.text_content()) <= _MAX_LABEL


def _is_prompt(element: HtmlElement) -> bool:
    is_marked = _kind(element.get("class") or "") == "prompt" or element.get("unselectable") == "on"
    if not is_marked and _UNSELECTABLE.search(element.get("style") or "") is None:
        return False
    return _SHELL_PROMPT.fullmatch(element.text_content()) is not None


def _holds_more(code: HtmlElement, prompts: set[HtmlElement]) -> bool:
    """Whether there is text outside the prompts."""
    texts = "".join(code.itertext()).split()
    return sum(map(len, texts)) > sum(len("".join(prompt.text_content().split())) for prompt in prompts)


def _shows_output(code: HtmlElement, prompts: set[HtmlElement]) -> bool:
    """Whether a line begins without a prompt that goes on with no line before it."""
    starts_line, goes_on = True, True  # before the first prompt stands what it is typed for
    for event, element in etree.iterwalk(code, events=("start", "end")):
        text = element.text if event == "start" else element.tail if element is not code else None
        if event == "start" and element in prompts:
            starts_line, goes_on = False, False
            continue
        if event == "end" and element in prompts:
            text = element.tail
        for number, line in enumerate((text or "").split("\n")):
            starts_line = starts_line or number > 0
            if starts_line and line.strip():
                if not goes_on:
                    return True
                starts_line = False
            if line.strip():
                goes_on = line.rstrip().endswith(_GOES_ON)
    return False


@lru_cache(maxsize=4096)  # a page has a handful of names, many times each
def _kind(names: str) -> str:
    """What an element is by its class names: "tooltip", "copy", "prompt" or ""."""
    if _TOOLTIP.search(names):
        return "tooltip"
    if _COPY.search(names):
        return "copy"
    return "prompt" if _PROMPT.search(names) or _UNSELECTABLE_NAMES.search(names) else ""
