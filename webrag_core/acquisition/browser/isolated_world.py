"""What a rendered page holds, read in a world of its own: there its scripts have changed no function that is used.

A page can still give its elements the names of properties (`<img name=readyState>`), so properties are read by the
functions of their prototypes. What crosses is one number, or one text of a length that was checked before.
"""

from __future__ import annotations

from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as BrowserError

from webrag_core.errors import FetchError, Reason
from webrag_core.foreign_values import whole_number

_NAME = "webrag"
_LIMIT_MS = 4_000  # of one reading
_READ = """(() => {
  const read = (kind, name, from) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(from);
  if (read(Document, 'readyState', document) === 'loading') return -1;
  const root = read(Document, 'documentElement', document);
  if (!root) return -1;
  %s
})()"""
_SIZE = _READ % "return read(Node, 'textContent', root).length;"
_MARKUP = (
    _READ
    % """const kind = read(Document, 'doctype', document);
  const markup = (kind ? new XMLSerializer().serializeToString(kind) : '') + read(Element, 'outerHTML', root);
  return markup.length > %d ? markup.length : markup;"""
)


class IsolatedWorld:
    """Reads one tab. Every method raises BrowserError where the page goes elsewhere meanwhile, or the browser dies."""

    def __init__(self, session: CDPSession, most: int) -> None:
        self._session = session
        self._most = most

    @classmethod
    async def of(cls, tab: Page, most: int) -> IsolatedWorld:
        """The world of a tab of which at most `most` characters of markup may cross."""
        return cls(await tab.context.new_cdp_session(tab), most)

    async def size(self) -> int:
        """Characters of its text; -1 before there is any."""
        size = whole_number(await self._evaluate(_SIZE), -1, 2**53)
        if size is None:
            raise FetchError(Reason.BAD_RESPONSE, "the browser gives the length of the page as something that is none")
        return size

    async def markup(self) -> str:
        """The document as markup; "" before there is any.

        Raises FetchError: TOO_LARGE for more characters than may cross, BAD_RESPONSE for what is no text.
        """
        value = await self._evaluate(_MARKUP % self._most)
        if isinstance(value, str) and len(value) <= self._most:
            return value
        if whole_number(value, -1, -1) is not None:
            return ""
        if isinstance(value, str) or whole_number(value, 0, 2**53) is not None:
            raise FetchError(Reason.TOO_LARGE, f"the page has more than {self._most} characters")
        raise FetchError(Reason.BAD_RESPONSE, "the browser gives the page as something that is no text")

    async def _evaluate(self, expression: str) -> object:
        """The value of an expression. Raises TimeoutError where it takes too long."""
        tree: dict[str, Any] = await self._session.send("Page.getFrameTree")
        frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": _NAME}
        world: dict[str, Any] = await self._session.send("Page.createIsolatedWorld", frame)
        reply: dict[str, Any] = await self._session.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "timeout": _LIMIT_MS,
            },
        )
        if "exceptionDetails" in reply:
            text = str(reply["exceptionDetails"].get("text", ""))
            raise BrowserError(f"the page cannot be read: {text[:100]}")
        result: object = reply["result"].get("value")
        return result
