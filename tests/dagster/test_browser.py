"""A person's way through the UI, in a real browser: launchpad, launch, success, the answer to read; scores with their
plots; a failing check with its reason; the partitions of a layer. A foreign page in the same browser gets nowhere."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.security.foreign_site import attack
from docs_tools.screenshots.instance import SUITE, await_run, three_nights
from tests.browsing import MILLISECONDS, needs_chromium, new_page
from tests.conftest import FROZEN_SITE, fresh_database
from tests.dagster.conftest import QUICK
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    needs_chromium,
]


@dataclass(frozen=True)
class Ui:
    """Where the UI is, its WEBRAG_HOME, and the process of `webrag up`."""

    address: str
    home: Path
    process: int


@pytest.fixture(scope="module")
def ui(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """`webrag up` on an empty instance and an empty database, with the frozen site in place of the web."""
    with fresh_database(server_url) as database_url:
        yield from _running(database_url, tmp_path_factory.mktemp("ui"))


def _running(database_url: str, tmp_path: Path) -> Iterator[Ui]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"}
    home = tmp_path / "home"
    environment |= {"DATABASE_URL": database_url, "WEBRAG_HOME": str(home), "WEBRAG_WARC": str(FROZEN_SITE), **QUICK}
    environment["WEBRAG_SERVE_OPEN"] = "1"
    log = tmp_path / "up.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [Path(sys.executable).with_name("webrag"), "up", "--no-page", "--port", str(port)],
            cwd=tmp_path,
            env=environment,
            stdout=stream,
            stderr=stream,
        )
    tree: list[psutil.Process] = []
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address + "/server_info", server, log)
        yield Ui(address, home, server.pid)
        tree = psutil.Process(server.pid).children(recursive=True)
        server.send_signal(signal.SIGINT)
        assert server.wait() == 0
        _, alive = psutil.wait_procs(tree)
        assert alive == [], "every process ends with `webrag up`"
    finally:
        for process in (*tree, *psutil.Process().children(recursive=True)):
            if process.is_running() and "dagster" in " ".join(_command(process)):
                process.kill()
        if server.poll() is None:
            server.kill()
            server.wait()


def _command(process: psutil.Process) -> list[str]:
    try:
        command: list[str] = process.cmdline()
    except psutil.Error:
        return []
    return command


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    def is_up() -> bool:
        assert server.poll() is None, f"the UI did not come up:\n{log.read_text()[-3000:]}"
        try:
            with urllib.request.urlopen(url):
                return True
        except OSError:
            return False

    wait_until(is_up)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = new_page(browser, viewport={"width": 1400, "height": 1200})
    yield page
    page.close()


def test_launch_from_the_launchpad_and_read_the_answer(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/locations/webrag/jobs/answer/playground")
    editor = page.locator(".CodeMirror-code")
    expect(editor).to_contain_text("- https://docs.python.org/3.11/")
    lines = [line.strip("\u200b ") for line in editor.locator(".CodeMirror-line").all_inner_texts()]
    assert [line.split(":")[0] for line in lines if line and not line.strip().startswith("-")] == ["question", "urls"]
    question = next(line.removeprefix("question: ") for line in lines if line.startswith("question: "))

    page.get_by_role("button", name="Launch run").click()
    page.wait_for_url("**/runs/**")
    run_page = page.url
    page.goto("about:blank")  # what moves on the page of a run that is at work takes a core
    await_run(ui.home, run_page.rpartition("/")[2], MILLISECONDS / 1_000)
    page.goto(run_page)
    ended = page.get_by_text(re.compile("^(Success|Failure|Canceled)$")).first
    expect(ended).to_be_visible()
    expect(page.get_by_text("Loading run logs")).to_have_count(0)
    assert ended.inner_text() == "Success", page.get_by_text("STEP_FAILURE").locator("..").all_inner_texts()

    page.goto(f"{ui.address}/assets/answers")
    page.get_by_text("[Show Markdown]").first.click()
    answer = page.locator(".dagster-markdown").filter(has_text="Why it stopped")
    expect(answer).to_contain_text(question)
    expect(answer.locator("a[href^='https://docs.python.org/3.11/']").first).to_be_visible()
    assert answer.locator("blockquote p").count() >= 1, "a quote is running text"
    assert "\u21aa" not in answer.inner_text()
    picture = answer.locator("img")
    expect(picture).to_have_count(1)
    assert picture.evaluate("image => image.complete && image.naturalWidth") >= 320
    answer.locator("h3").first.scroll_into_view_if_needed()

    page.goto(f"{ui.address}/assets/documents?partition=docs.python.org&view=partitions")
    expect(page.get_by_text("Materialized", exact=True).first).to_be_visible()
    expect(page.get_by_text("docs.python.org").first).to_be_visible()

    expect(page.get_by_text("dagster/row_count").first).to_be_visible()

    page.goto(f"{ui.address}/assets/answer_rounds")
    expect(page.get_by_text("rounds_so_far").first).to_be_visible()


def test_bad_input_is_one_sentence_on_the_run_page(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/locations/webrag/jobs/answer/playground")
    editor = page.locator(".CodeMirror-code")
    expect(editor).to_contain_text("question: ")
    page.locator(".CodeMirror").first.evaluate("it => it.CodeMirror.setValue('question: what?\\nurls: [not a url]')")
    page.get_by_role("button", name="Launch run").click()
    page.wait_for_url("**/runs/**")
    failed = page.get_by_text("[invalid_url]")
    expect(failed.first).to_be_visible()
    expect(page.get_by_text("Stack Trace")).to_have_count(0)


def test_scores_are_plotted_and_a_failing_check_says_why(ui: Ui, page: Page) -> None:
    three_nights(ui.home)
    page.goto(f"{ui.address}/assets/{SUITE}")
    expect(page.get_by_text("success", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Plots").click()
    expect(page.locator("canvas").first).to_be_visible()

    page.goto(f"{ui.address}/assets/{SUITE}?view=checks&checkDetail=no_regression")
    reason = page.get_by_text("Fell: success -0.50")
    expect(reason.first).to_be_visible()
    expect(reason.first).to_contain_text("worse: python-002, python-003")
    expect(page.get_by_text("Failed", exact=True).first).to_be_visible()


def test_a_foreign_page_in_the_same_browser_neither_acts_nor_reads(ui: Ui, browser: Browser) -> None:
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance, browser.new_context() as context:
        port = int(ui.address.rpartition(":")[2])
        attempts = attack(context, port, instance, ("other site, localhost", "rebound name"))
    assert len(attempts) > 80
    assert [one for one in attempts if one.succeeded] == []


def test_only_the_ui_listens_on_a_port_and_other_users_reach_no_socket(ui: Ui) -> None:
    processes = psutil.Process(ui.process).children(recursive=True)
    ports = {
        f"http://{connection.laddr.ip}:{connection.laddr.port}"
        for process in processes
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert ports == {ui.address}
    sockets = {Path(one.laddr) for process in processes for one in process.net_connections("unix") if one.laddr}
    ours = [file for file in sockets if file.is_socket() and not file.name.startswith(".s.PGSQL")]
    assert len(ours) >= 2, "the code server and its child"
    for file in ours:
        assert file.parent.stat().st_mode & 0o077 == 0, file
