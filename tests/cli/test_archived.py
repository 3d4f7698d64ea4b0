"""`webrag ingest URL --archived DATE`: copies of a web archive become the past of a page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.command_line import Webrag, webrag_here

__all__ = ["webrag_here"]

PAGE = "https://tea.example/kinds"
COPIES = {  # by the year that is asked for
    "2019": ("Thu, 21 Mar 2019 08:05:01 GMT", "There were three kinds of tea, said the board of tea."),
    "2021": ("Fri, 01 Jan 2021 00:00:00 GMT", "There were four kinds of tea, said the board of tea."),
    "2024": ("Tue, 02 Jan 2024 03:04:05 GMT", "There are five kinds of tea, says the board of tea."),
}


class _Archive(BaseHTTPRequestHandler):
    """Answers as a TimeGate that leads to the copies, and with a TimeMap."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt" or PAGE not in self.path:
            self._reply(404, "text/plain", "")
        elif self.path.startswith("/map/"):
            links = [f'<{PAGE}>; rel="original"']
            links += [f'</web/{year}/{PAGE}>; rel="memento"; datetime="{made}"' for year, (made, _) in COPIES.items()]
            self._reply(200, "application/link-format", ",\n".join(links))
        elif self.path.startswith("/gate/"):
            asked = self.headers.get("accept-datetime", "2024")
            self._reply(302, "text/html", "", Location=f"/web/{next((y for y in COPIES if y in asked), '2024')}/{PAGE}")
        else:
            made, text = COPIES[self.path.split("/")[2]]
            self.made, html = made, f"<!doctype html><title>Kinds of tea</title><p>{text}</p>"
            self._reply(200, "text/html", html, **{"Memento-Datetime": made, "Link": f'</map/{PAGE}>; rel="timemap"'})

    def _reply(self, status: int, media_type: str, text: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": media_type, "Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@contextmanager
def archive() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Archive)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_copies_of_an_archive_are_the_past_of_a_page(webrag_here: Webrag, monkeypatch: pytest.MonkeyPatch) -> None:
    with archive() as host:
        monkeypatch.setenv("WEBRAG_ALLOW_HOSTS", host)
        monkeypatch.setenv("MEMENTO_TIMEGATE", f"http://{host}/gate/")
        done = webrag_here("ingest", PAGE, "--archived", "2021", "--archived", "2019-12", "--json")
        earlier = [one["version_id"] for one in json.loads(done.stdout)["copies"]]
        then = json.loads(webrag_here("history", PAGE, "--at", "2020-06", "--json").stdout)
        assert then["certainty"] == "between"
        in_2021 = json.loads(webrag_here("history", PAGE, "--at", "2021-01-01", "--json").stdout)
        assert in_2021["certainty"] == "certain"
        assert "four kinds" in json.dumps(in_2021)
        every = json.loads(webrag_here("ingest", PAGE, "--archived", "all", "--json").stdout)
        assert [one["version_id"] for one in every["copies"]][:2] == earlier
        assert len(every["copies"]) == 3
        found = webrag_here("search", "How many kinds of tea are there?", "--json").stdout
        assert "five kinds" in found
        number = json.loads(webrag_here("ask", "How many kinds of tea are there?", "--json").stdout)["answer_id"]
        written = webrag_here("answers", "references", str(number)).stdout
        assert written.startswith("@online{tea.example-2024-")
        assert f"Archived copy: \\url{{http://{host}/web/2024/{PAGE}}}" in written
        assert webrag_here("answers", "references", str(number), "--as", "ris").stdout.startswith("TY  - ELEC")
        assert webrag_here("verify").returncode == 0


def test_without_an_archive_the_setting_is_named(webrag_here: Webrag) -> None:
    done = webrag_here("ingest", PAGE, "--archived", "2021")
    assert done.returncode == 2
    assert "MEMENTO_TIMEGATE" in done.stderr
