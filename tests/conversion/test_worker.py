"""Conversion in worker processes: what hangs, crashes or eats memory costs its own page only."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from tests.conftest import FROZEN_SITE, REPOSITORY
from tests.conversion.hostile_worker import REPLIES
from tests.conversion.misbehaving import said
from tests.conversion.test_pdf import TEXT, write_pdf
from tests.waiting import wait_until
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage, PageLink
from webrag_core.conversion.worker import WorkerPool, convert_in_worker
from webrag_core.conversion.worker_main import reply_to
from webrag_core.errors import FetchError, Reason, WebragError

URL = "https://site.example/"
MISBEHAVE = "tests.conversion.misbehaving:misbehave"
START = b"<main><p>plain words to read here</p>"


def page(body: bytes = START, media_type: str = "text/html; charset=utf-8") -> AcquiredPage:
    return AcquiredPage(URL, URL, 200, {"content-type": media_type}, body, datetime.now(UTC), len(body))


@pytest.mark.parametrize(
    ("converted", "reason"),
    [
        (said("- x\n" * 220_001), Reason.TOO_LARGE),
        (said("> x\n>\n" * 220_001), Reason.TOO_LARGE),
        (said("a\n=\n" * 220_001), Reason.TOO_LARGE),
        (said("___\n" * 220_001), Reason.TOO_LARGE),
        (said("x\r\r" * 220_001), Reason.TOO_LARGE),
        (said("```" + "\n" * 500_001), Reason.TOO_LARGE),
        (said("x\n:   y\n\n" * 110_001), Reason.TOO_LARGE),
        (said("\U0001f469" * 3_000_001), Reason.TOO_LARGE),
        (replace(said("x"), links=(PageLink(URL, "text", "c" * 400, (), False, False),) * 30_000), Reason.TOO_LARGE),
        (said(" ".join(map(str, range(150_001)))), Reason.TOO_LARGE),
        (said("- x\n" * 220_000), None),
        (said(" ".join(map(str, range(150_000)))), None),
        (said("word\n| cell |\n" * 250_000), None),
    ],
    ids=[
        "items",
        "quotes",
        "headings",
        "rules",
        "returns",
        "blanks",
        "definitions",
        "bytes",
        "links",
        "vocabulary",
        "largest",
        "dictionary",
        "lines",
    ],
)
def test_what_is_too_large_to_index_does_not_leave_the_worker(converted: ConvertedPage, reason: Reason | None) -> None:
    reply = reply_to(lambda _: converted, page())
    assert (reply["kind"], reply.get("page"), reply.get("reason")) == (
        ("page", converted, None) if reason is None else ("refused", None, reason.value)
    )


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(1, conversion=MISBEHAVE, cpu_seconds=1.0, memory_bytes=400_000_000)
    yield made
    made.close()


def convert(pool: WorkerPool, body: bytes) -> str:
    return asyncio.run(pool.convert(page(body))).markdown


def refusal(pool: WorkerPool, body: bytes) -> FetchError:
    with pytest.raises(FetchError) as caught:
        convert(pool, body)
    return caught.value


def busy(pid: int) -> None:
    """Wait until a process computes."""
    process = psutil.Process(pid)
    before = process.cpu_times().user
    wait_until(lambda: process.cpu_times().user > before + 0.05)


def await_end(pid: int) -> None:
    """Wait for a process to end."""
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


@pytest.mark.slow
def test_the_worker_says_what_the_conversion_says() -> None:
    async def both() -> None:
        site = WarcAcquirer(FROZEN_SITE)
        pages = [await site.fetch(url) for url in site.page_urls()[::60]]
        pages += [page(b"# plain\n\nwords of Markdown", "text/markdown"), page(write_pdf([TEXT]), "application/pdf")]
        assert await asyncio.gather(*map(convert_in_worker, pages)) == [convert_page(each) for each in pages]

    asyncio.run(both())


def test_a_worker_is_kept_over_pages_and_event_loops(pool: WorkerPool) -> None:
    pids = {convert(pool, b"") for _ in range(3)}
    assert len(pids) == 1
    assert int(pids.pop()) != os.getpid()
    assert refusal(pool, b"refuse").reason is Reason.EMPTY_PAGE


def test_refusals_arrive_whole(pool: WorkerPool) -> None:
    error = refusal(pool, b"refuse")
    assert (error.reason, error.message, error.status) == (Reason.EMPTY_PAGE, "nothing there", 203)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"hang", Reason.TIMEOUT),
        (b"crash", Reason.PARSE_FAILURE),
        (b"recurse", Reason.PARSE_FAILURE),
        (b"bug", Reason.PARSE_FAILURE),
        pytest.param(
            b"eat", Reason.TOO_LARGE, marks=pytest.mark.skipif(sys.platform != "linux", reason="no memory limit")
        ),
    ],
)
def test_what_goes_wrong_costs_one_page(pool: WorkerPool, body: bytes, reason: Reason) -> None:
    convert(pool, b"")
    assert refusal(pool, body).reason is reason
    assert convert(pool, b"").isdigit()


def test_the_limit_is_cpu_time_that_a_loaded_machine_does_not_use_up(pool: WorkerPool) -> None:
    assert convert(pool, b"wait").isdigit()


@pytest.mark.skipif(sys.platform != "linux", reason="no memory limit")
@pytest.mark.slow
def test_a_worker_that_has_grown_is_replaced_at_no_page_s_cost(pool: WorkerPool) -> None:
    assert convert(pool, b"keep") != convert(pool, b"keep")


@pytest.mark.slow
def test_neighbours_of_a_hanging_page_go_on() -> None:
    pool = WorkerPool(2, conversion=MISBEHAVE, cpu_seconds=1.0)

    async def together() -> list[ConvertedPage | BaseException]:
        bodies = (b"", b"hang", b"", b"crash", b"")
        return await asyncio.gather(*(pool.convert(page(body)) for body in bodies), return_exceptions=True)

    results = asyncio.run(together())
    pool.close()
    assert [isinstance(result, ConvertedPage) for result in results] == [True, False, True, False, True]


def test_a_bug_is_in_the_log_and_not_in_the_message(pool: WorkerPool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert "missing" not in refusal(pool, b"bug").message
    assert "KeyError: 'what is missing'" in caplog.text


def test_a_worker_that_died_while_idle_costs_nothing(pool: WorkerPool) -> None:
    first = int(convert(pool, b""))
    os.kill(first, signal.SIGKILL)
    assert int(convert(pool, b"")) != first


def test_cancelling_kills_the_worker() -> None:
    pool = WorkerPool(1, conversion=MISBEHAVE, cpu_seconds=60.0)

    async def cancelled() -> int:
        pid = int((await pool.convert(page())).markdown)
        task = asyncio.create_task(pool.convert(page(b"hang")))
        await asyncio.to_thread(busy, pid)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return pid

    await_end(asyncio.run(cancelled()))
    assert convert(pool, b"").isdigit()
    pool.close()


def test_no_worker_is_an_error_of_ours_and_not_of_the_page() -> None:
    with pytest.raises(WebragError) as caught:
        convert(WorkerPool(1, conversion="no.such:thing"), b"")
    assert not isinstance(caught.value, FetchError)


def test_a_worker_knows_no_secrets_and_holds_no_files(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANKER_API_KEY", "secret")
    with open(os.devnull, "rb") as inheritable:
        os.set_inheritable(inheritable.fileno(), True)
        assert "RERANKER_API_KEY" not in convert(pool, b"environment")
        if sys.platform == "linux":
            files = Path("/proc", convert(pool, b""), "fd")
            names = [os.readlink(entry) for entry in files.iterdir()]
            assert all(re.match(r"pipe:|/dev/null$|/proc/\d+/statm$", name) for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("body", ["b''", "b'hang'"])
def test_workers_end_with_a_parent_that_is_killed(body: str) -> None:
    program = (
        "import asyncio\n"
        f"from {__name__} import WorkerPool, page\n"
        "async def main():\n"
        f"    pool = WorkerPool(1, conversion='{MISBEHAVE}', cpu_seconds=60)\n"
        "    print((await pool.convert(page())).markdown, flush=True)\n"
        f"    await pool.convert(page({body}))\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    if "hang" in body:
        busy(worker)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    await_end(worker)


def taken_over(mode: str, cpu_seconds: float = 60.0) -> ConvertedPage:
    """The page that comes from a worker which somebody else controls."""
    pool = WorkerPool(1, conversion=mode, cpu_seconds=cpu_seconds, program="tests.conversion.hostile_worker")
    try:
        return asyncio.run(pool.convert(page()))
    finally:
        pool.close()


def test_the_hostile_worker_can_be_honest_and_has_all_its_replies() -> None:
    assert taken_over("honest").title == "T"
    assert {type(reply()) for reply in REPLIES.values()} == {bytes}


@pytest.mark.parametrize("mode", [*(mode for mode in REPLIES if mode != "honest"), "endless", "cut off"])
def test_what_a_subverted_worker_answers_is_a_failure_of_its_page(
    mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(FetchError) as caught:
        taken_over(mode)
    assert caught.value.reason is Reason.PARSE_FAILURE
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_waits_is_ended_by_the_clock() -> None:
    with pytest.raises(FetchError) as caught:
        taken_over("silent", cpu_seconds=0.1)
    assert caught.value.reason is Reason.TIMEOUT


HOSTILE: dict[str, Callable[[], bytes]] = {
    "nesting": lambda: START + b"<div>" * 5_000 + b"deep" + b"</div>" * 5_000,
    "body": lambda: START + b"<p>some words in a paragraph</p>\n" * 1_600_000,
    "line": lambda: START + b"<p>" + b"word " * 400_000,
    "bases": lambda: START + b"<base href=/x/>" * 70_000,
}


@pytest.mark.slow
def test_hostile_pages_end_and_leave_the_main_process_small() -> None:
    pool = WorkerPool(2, cpu_seconds=6.0)
    ends: dict[str, str] = {}
    risen: dict[str, int] = {}

    async def one(name: str) -> None:
        body = page(HOSTILE[name]())
        this, peak = psutil.Process(), 0
        before = this.memory_info().rss
        task = asyncio.create_task(pool.convert(body))
        while not task.done():
            await asyncio.wait([task], timeout=0.02)
            peak = max(peak, this.memory_info().rss - before)
        risen[name] = peak
        error = task.exception()
        assert error is None or isinstance(error, FetchError)
        ends[name] = "converted" if error is None else error.code

    async def in_turn() -> None:
        for name in HOSTILE:
            await one(name)

    asyncio.run(in_turn())
    pool.close()
    assert set(ends) == set(HOSTILE)
    assert (ends["nesting"], ends["line"], ends["bases"]) == ("parse_failure", "converted", "converted")
    assert ends["body"] == ("too_large" if sys.platform == "linux" else ends["body"])
    assert max(risen.values()) <= 150_000_000, risen
