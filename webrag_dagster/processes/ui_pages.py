"""The pages that materializations link to, served beside Dagster's own: answers to read, pictures of graphs.

They hold text of web pages, so the browser treats each as a site of its own, without scripts and without a network.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_dagster.private_files import PREFIX

FOLDERS = ("answers", "graphs")
"""Folders below WEBRAG_HOME that are served, whole."""
_NAME = re.compile(r"[\w.~%-]{1,200}\.html", re.ASCII)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox"
_LINKS = "allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"


class WithPages:
    """Serve the files; everything else is Dagster's."""

    def __init__(self, app: ASGIApp, home: Path) -> None:
        self._app = app
        self._home = home.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""
        parts = scope["path"].strip("/").split("/") if scope["type"] == "http" else []
        if not parts or parts[0] != PREFIX:
            await self._app(scope, receive, send)
            return
        await (await self._page(parts[1:]))(scope, receive, send)

    async def _page(self, parts: list[str]) -> Response:
        if len(parts) != 2 or parts[0] not in FOLDERS or not _NAME.fullmatch(parts[1]):
            return PlainTextResponse("there is no such page", 404)
        file = self._home.joinpath(*parts)
        if not await asyncio.to_thread(_is_own_file, file):
            return PlainTextResponse("this page is on the machine that made it, or was removed", 404)
        headers = {"Content-Security-Policy": f"{_POLICY} {_LINKS}", "Cache-Control": "no-store"}
        return FileResponse(file, headers=headers, media_type="text/html; charset=utf-8")


def _is_own_file(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()
