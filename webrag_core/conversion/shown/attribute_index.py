"""The elements of a page by their attributes, read once: to ask the tree for each kind of them costs more than all the
rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml.html import HtmlElement


class AttributeIndex:
    """Elements below `root` that have attributes. What is dropped or changed later stays in it."""

    def __init__(self, root: HtmlElement) -> None:
        self.root = root
        self._order: dict[HtmlElement, int] = {}
        self._having: dict[str, list[HtmlElement]] = {}
        self._of_class: dict[str, list[HtmlElement]] = {}
        for element in root.iter("*"):
            keys = element.keys()
            if not keys:
                continue
            self._order[element] = len(self._order)
            for key in keys:
                if key == "class":
                    self._of_class.setdefault(element.get("class") or "", []).append(element)
                else:
                    self._having.setdefault(key, []).append(element)

    def having(self, *names: str) -> list[HtmlElement]:
        """The elements with any of these attributes other than `class`, in reading order."""
        results = [self._having.get(name, []) for name in names]
        return results[0] if len(results) == 1 else self._sorted(element for each in results for element in each)

    def of_class(self, fits: Callable[[str], bool]) -> list[HtmlElement]:
        """The elements whose class attribute fits, in reading order. A page has a handful of names, many times each."""
        return self._sorted(each for names, elements in self._of_class.items() if fits(names) for each in elements)

    def elements(self) -> Iterator[HtmlElement]:
        """Yield all of them, in reading order."""
        return iter(self._order)

    def _sorted(self, elements: Iterator[HtmlElement]) -> list[HtmlElement]:
        return sorted(dict.fromkeys(elements), key=self._order.__getitem__)
