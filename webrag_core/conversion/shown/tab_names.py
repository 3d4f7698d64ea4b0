"""Join tabs and their panels: a panel alone does not say for which system, language or plan it holds.

A tab names its panel by id or is named by it; else as many panels as tabs follow them, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.shown.action_words import is_action
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.controls import named_ids
from webrag_core.conversion.shown.hidden import is_hidden
from webrag_core.conversion.shown.panels import (
    HEADINGS,
    folded_text,
    has_headings,
    levels_before,
    name_panel,
    shows_text,
)

_BOXES = {"radio", "checkbox"}
_TOGGLES = {"tab", "pill", "list"}
_LIST_OF_TABS = re.compile(
    r"(?:^|\s)(?:[\w-]*[-_])?(?:tabs?|tablist)(?:[-_]{1,2}(?:list|nav|navs|navigation|links?|bar|buttons?|headers?|labels?|titles?"
    r"|controls?|menu|strip|switcher|items|row))?(?:$|\s)|(?:^|\s)(?:tab(?:List|Nav|Links|Bar|Buttons|Headers?|Labels|s))(?:$|\s)"
    r"|et_pb_tabs_controls|tabular|tabset-?nav",
)
_TAB_TAGS = ("a", "button")
_SKIPPED = {"script", "style", "template", "input", "label", "br", "hr", "noscript", "svg", "legend"}
_PANEL_TAGS = {"div", "section", "article", "ul", "ol", "li", "pre", "table", "p", "dl", "figure", "fieldset"}
_WRAPPERS = {"li", "div", "span", "presentation"}
_MAX_UP = 3
_REACH = 3  # elements behind a row of tabs in which its panels are looked for
_MAX_SCANNED = 2_000  # elements of each
_MAX_GROUPS = 1_000
_MAX_TABS = 60  # in one row


@dataclass(frozen=True, slots=True)
class TabGroup:
    """A row of tabs: `names` and `panels` of those that have one, `tabs` as elements, all of which go."""

    tabs: tuple[HtmlElement, ...]
    names: tuple[str, ...]
    panels: tuple[HtmlElement, ...]


def find_tabs(index: AttributeIndex) -> list[TabGroup]:
    """Return the rows of tabs of a page whose panels are known, in reading order. Nothing is changed."""
    rows = [row for row in islice(_rows(index), _MAX_GROUPS) if len(row.tabs) <= _MAX_TABS]
    if not rows:
        return []
    finder = _Panels(index)
    groups: list[TabGroup] = []
    taken: set[HtmlElement] = set()
    for row in rows:
        group = finder.of(row)
        if group is None:
            continue
        if not taken.isdisjoint(group.panels):  # the same tabs again, for another width of the screen
            group = TabGroup(group.tabs, (), ()) if taken.issuperset(group.panels) else None
        if group is not None:
            groups.append(group)
            taken.update(group.panels)
    return groups


def panels_of(groups: Sequence[TabGroup]) -> list[HtmlElement]:
    """The panels of all rows."""
    return [panel for group in groups for panel in group.panels]


def name_panels(index: AttributeIndex, groups: Sequence[TabGroup]) -> list[HtmlElement]:
    """Put the name of every tab before its panel; return the tabs that then say nothing more, which are to be
    dropped."""
    first = [group.panels[0] for group in groups if group.panels]
    levels = levels_before(index.root, first) if first else {}
    done: list[HtmlElement] = []
    for group in groups:
        as_heading = has_headings(group.panels)
        for name, panel in zip(group.names, group.panels, strict=True):
            name_panel(panel, name, levels.get(group.panels[0], 1), as_heading=as_heading)
        done += [_whole_tab(tab) for tab in group.tabs]
    return done


@dataclass(frozen=True, slots=True)
class _Row:
    """Tabs that stand together in `box`; `has_ids` where only ids join them with panels, `are_alike` where nothing but
    as many panels of one kind says that they are tabs."""

    box: HtmlElement
    tabs: list[HtmlElement]
    has_ids: bool = False
    are_labels: bool = False
    are_alike: bool = False


def _rows(index: AttributeIndex) -> Iterator[_Row]:
    """Yield rows of elements that may be tabs."""
    marked = [element for element in index.having("role", "data-toggle", "data-bs-toggle", "panel") if _is_tab(element)]
    boxes: dict[HtmlElement, list[HtmlElement]] = {}
    for tab in marked:
        boxes.setdefault(_row_of(tab), []).append(tab)
    for box, tabs in boxes.items():
        yield _Row(box, tabs)
    yield from _label_rows(index)
    known = set(marked)
    for box in reversed(index.of_class(_lists_tabs)):  # the innermost first
        if box in boxes:
            continue
        tabs = [tab for tab in islice(box.iter(*_TAB_TAGS), _MAX_TABS + 1) if _is_same_page(tab)]
        tabs = tabs or [item for item in islice(box.iter("li"), _MAX_TABS + 1) if item.get("id")]
        if tabs and known.isdisjoint(tabs):
            known.update(tabs)
            yield _Row(box, tabs, has_ids=not _is_row(box, tabs))
    yield from _button_rows(index, known)


def _button_rows(index: AttributeIndex, known: set[HtmlElement]) -> Iterator[_Row]:
    """Yield rows of nothing but buttons without the words of actions."""
    rows: dict[HtmlElement, list[HtmlElement]] = {}
    for button in index.root.iter("button"):
        rows.setdefault(button.getparent(), []).append(button)
    for box, tabs in rows.items():
        is_new = 1 < len(tabs) <= _MAX_TABS and known.isdisjoint(tabs) and len(tabs) == len(box)
        if (
            is_new
            and _is_row(box, tabs)
            and not any("aria-expanded" in tab.attrib or is_action(_name(tab)) for tab in tabs)
        ):
            yield _Row(box, tabs, are_alike=True)


def _is_tab(element: HtmlElement) -> bool:
    return (
        element.get("role") == "tab"
        or element.get("data-toggle") in _TOGGLES
        or element.get("data-bs-toggle") in _TOGGLES
        or "panel" in element.attrib
    )


def _lists_tabs(names: str) -> bool:
    return "tab" in names.lower() and _LIST_OF_TABS.search(names) is not None


def _label_rows(index: AttributeIndex) -> Iterator[_Row]:
    """Yield rows of labels of radio buttons and check boxes outside forms; a check box opens what is behind it."""
    inputs = index.root.iter("input")
    boxes = {str(box.get("id")): box.get("type") for box in inputs if box.get("type") in _BOXES and box.get("id")}
    rows: dict[HtmlElement, list[HtmlElement]] = {}
    for label in index.root.iter("label"):
        kind = boxes.get(label.get("for") or "")
        if kind is not None and next(label.iterancestors("form"), None) is None:
            parent = label if kind == "checkbox" else label.getparent()
            if parent.tag == "li" and parent.getparent() is not None:
                parent = parent.getparent()
            rows.setdefault(parent, []).append(label)
    for box, tabs in rows.items():
        yield _Row(box, tabs, are_labels=True)
    for select in index.root.iter("select"):
        yield _Row(select, list(islice(select.iter("option"), _MAX_TABS + 1)))


def _row_of(tab: HtmlElement) -> HtmlElement:
    """The list of tabs that a tab stands in, else the box that holds its neighbours."""
    for box in islice(tab.iterancestors(), _MAX_UP + 1):
        if box.get("role") == "tablist":
            return box
    parent = tab.getparent()
    if parent.tag in ("li", "dt") and parent.getparent() is not None:
        return parent.getparent()
    return parent


def _is_same_page(tab: HtmlElement) -> bool:
    href = tab.get("href")
    return href is None or not href or href.startswith(("#", "javascript:"))


def _is_row(box: HtmlElement, tabs: Sequence[HtmlElement]) -> bool:
    """Whether a box holds nothing but tabs."""
    return len(tabs) > 1 and "".join(folded_text(box).split()) == "".join("".join(map(folded_text, tabs)).split())


class _Panels:
    """Finds the panels of rows of tabs."""

    def __init__(self, index: AttributeIndex) -> None:
        self._by_id: dict[str, HtmlElement] = {}
        self._by_label: dict[str, HtmlElement] = {}
        for element in index.having("id", "aria-labelledby", "name", "data-tab"):
            is_panel = element.get("role") == "tabpanel"
            if (name := element.get("id")) is not None or ((name := element.get("name")) and is_panel):
                self._by_id.setdefault(name, element)
            is_tab = element.get("role") == "tab" or element.tag == "li"
            if (name := element.get("data-tab")) and element.tag in _PANEL_TAGS and not is_tab:
                self._by_id.setdefault(name, element)
            if (labels := element.get("aria-labelledby")) and element.get("role") != "tab":
                self._by_label.setdefault(labels, element)

    def of(self, row: _Row) -> TabGroup | None:
        """The row with its panels; None where they are not known."""
        pairs = [(tab, panel) for tab in row.tabs if (panel := self._named(tab)) is not None]
        if row.are_labels:
            panels = _behind_each(row) or (_in_order(row) if len(row.tabs) > 1 else [])
            pairs = list(zip(row.tabs, panels, strict=True)) if panels else []
        elif row.box.tag == "select":
            pairs = pairs if len(pairs) == len(row.tabs) else []
        elif not pairs and not row.has_ids:
            panels = _in_order(row)
            pairs = list(zip(row.tabs, panels, strict=True)) if panels else _of_selected(row)
        pairs = [(tab, panel) for tab, panel in pairs if not _is_title(tab, panel)]
        named = [(tab, name, panel) for tab, panel in pairs if (name := _name(tab))]
        if not named or (row.are_alike and len({panel.tag for _, panel in pairs}) > 1):
            return None
        if len({panel for _, _, panel in named}) < len(named):  # they filter one panel
            return TabGroup(tuple(row.tabs), (), ())
        if row.has_ids and not all(_is_panel(panel) for _, _, panel in named):
            return None
        leading = {tab for tab, _ in pairs} if row.are_labels or row.has_ids else set(row.tabs)
        tabs = tuple(tab for tab in row.tabs if tab in leading)
        return TabGroup(tabs, tuple(name for _, name, _ in named), tuple(panel for _, _, panel in named))

    def _named(self, tab: HtmlElement) -> HtmlElement | None:
        """The panel that a tab names, or that is named by it."""
        names = [(tab.get("value") or "").lstrip("#")] if tab.tag == "option" else named_ids(tab)
        for name in names:
            panel = self._by_id.get(name)
            if panel is not None and panel is not tab and not _holds(panel, tab) and panel.tag not in ("input", "a"):
                return panel
        for inner in islice(tab.iterchildren("a", "button", "span"), 2):
            for name in named_ids(inner):
                panel = self._by_id.get(name)
                if panel is not None and not _holds(panel, tab) and panel.tag not in ("input", "a", "label"):
                    return panel
        return self._by_label.get(tab.get("id") or "")


def _holds(box: HtmlElement, element: HtmlElement) -> bool:
    return box is element or box in element.iterancestors()


def _is_panel(element: HtmlElement) -> bool:
    """Whether an element that a link of a named row leads to is a panel, and no section of a table of contents."""
    names = f"{element.get('class') or ''} {element.get('role') or ''}"
    return element.tag not in HEADINGS and bool(re.search(r"tab|panel|pane|content", names, re.IGNORECASE))


def _is_title(tab: HtmlElement, panel: HtmlElement) -> bool:
    """Whether a tab is the heading of the panel right behind it."""
    heading = tab if tab.tag in HEADINGS else next(tab.iter(*HEADINGS), None)
    if heading is None:
        heading = next(islice(tab.iterancestors(*HEADINGS), 1), None)
    return heading is not None and (heading.getnext() is panel or tab.getnext() is panel)


def _behind_each(row: _Row) -> list[HtmlElement]:
    """The panels that stand right behind every label; none where one has no panel."""
    panels = []
    for label in row.tabs:
        following = label.getnext()
        if following is None or following.tag not in _PANEL_TAGS or (label.tail or "").strip():
            return []
        if not shows_text(following):
            return []
        panels.append(following)
    return panels


def _in_order(row: _Row) -> list[HtmlElement]:
    """As many panels as tabs that follow the row; none where there are more or fewer."""
    count = len(row.tabs)
    box = row.box
    if row.are_labels and (panels := _blocks(box)) and len(panels) == count:
        return panels  # labels and panels in one box
    if row.are_labels and (panels := _alike_behind(row.tabs[-1], count)):
        return panels
    for _ in range(_MAX_UP):
        following = list(islice(_following(box), _REACH))
        panels = [panel for element in following for panel in _tab_panels(element)]
        if panels:
            return panels if len(panels) == count else []
        if following and count > 1:
            inner = following[0]
            for _ in range(_MAX_UP):
                blocks = _blocks(inner)
                if len(blocks) == count and not (inner.text or "").strip():
                    return blocks
                if len(blocks) != 1:
                    break
                inner = blocks[0]
            siblings = list(islice(_following(box), count + 1))
            if len(siblings) == count and _are_panels(siblings):
                return siblings
        box = box.getparent()
        if box is None or box.tag in ("body", "main", "article", "td"):
            break
    return []


def _are_panels(boxes: Sequence[HtmlElement]) -> bool:
    """Whether boxes are of one kind, or of one tag and not all of them shown."""
    if len({box.tag for box in boxes}) > 1:
        return False
    return len({box.get("class") for box in boxes}) == 1 or any(is_hidden(box) for box in boxes)


def _alike_behind(last: HtmlElement, count: int) -> list[HtmlElement]:
    """The `count` boxes behind the last tab that have a class in common, which the next element does not have."""
    following = list(islice(_following(last), count + 1))
    panels, further = following[:count], following[count:]
    classes = [set((panel.get("class") or "").split()) for panel in panels]
    shared = set.intersection(*classes) if classes else set()
    if len(panels) < count or not shared or len({panel.tag for panel in panels}) > 1:
        return []
    return [] if any(shared <= set((each.get("class") or "").split()) for each in further) else panels


def _of_selected(row: _Row) -> list[tuple[HtmlElement, HtmlElement]]:
    """The only panel that is there, with the tab that is selected."""
    selected = [tab for tab in row.tabs if tab.get("aria-selected") == "true"]
    box = row.box
    for _ in range(_MAX_UP):
        panels = [panel for element in islice(_following(box), _REACH) for panel in _tab_panels(element)]
        if panels or box.getparent() is None:
            return [(selected[0], panels[0])] if len(panels) == 1 and len(selected) == 1 else []
        box = box.getparent()
    return []


def _following(box: HtmlElement) -> Iterator[HtmlElement]:
    return (each for each in box.itersiblings() if isinstance(each.tag, str) and each.tag not in _SKIPPED)


def _blocks(box: HtmlElement) -> list[HtmlElement]:
    """The children of a box that may be panels; none where others with text stand among them."""
    blocks = []
    for child in islice(box, 4 * _MAX_TABS):
        if not isinstance(child.tag, str) or child.tag in _SKIPPED:
            continue
        if child.tag not in _PANEL_TAGS and "-" not in child.tag:
            return []
        blocks.append(child)
    return blocks


def _tab_panels(element: HtmlElement) -> list[HtmlElement]:
    """The outermost tab panels in an element, itself included."""
    if element.get("role") == "tabpanel":
        return [element]
    panels = [each for each in islice(element.iterdescendants("*"), _MAX_SCANNED) if each.get("role") == "tabpanel"]
    results = set(panels)
    return [panel for panel in panels if results.isdisjoint(panel.iterancestors())]


def _name(tab: HtmlElement) -> str:
    """The words of a tab, else its accessible name."""
    if text := folded_text(tab):
        return text
    for name in ("aria-label", "title", "data-title", "data-label"):
        if value := " ".join((tab.get(name) or "").split()):
            return value
    return next((alt for image in tab.iter("img") if (alt := " ".join((image.get("alt") or "").split()))), "")


def _whole_tab(tab: HtmlElement) -> HtmlElement:
    """A tab with the list item or box around it that holds nothing else."""
    element = tab
    for parent in islice(tab.iterancestors(), _MAX_UP):
        if (
            parent.tag not in _WRAPPERS
            or len(parent) > 1
            or (parent.text or "").strip()
            or (element.tail or "").strip()
        ):
            break
        element = parent
    return element
