"""Politeness over all processes that share a database: slots, crawl delay, Retry-After, killed holders."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from asyncio.subprocess import PIPE, Process
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.acquisition.local_server import Page, Site, reply, serving
from tests.waiting import await_until
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import FetchError, Reason
from webrag_core.store.database import Database
from webrag_core.store.leases import HostLeases

pytestmark = pytest.mark.alone

HTML = reply(b"<!DOCTYPE html><title>t</title><p>text", "content-type: text/html")
_WORKER = """
import asyncio, sys
from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import FetchError
from webrag_core.store.database import Database

async def outcome(acquirer, url):
    try:
        return str((await acquirer.fetch(url)).status)
    except FetchError as error:
        return error.code

async def main():
    settings = Settings.model_validate_json(sys.argv[1])
    async with await Database.open(settings) as database:
        acquirer = make_acquirer(settings, "http", database=database)
        print(*await asyncio.gather(*(outcome(acquirer, url) for url in sys.argv[2:])))

asyncio.run(main())
"""


def settings_for(site: Site, database_url: str, **chosen: object) -> Settings:
    allowed = f"127.0.0.1:{site.port}"
    return Settings(database_url=database_url, webrag_allow_hosts=allowed, **chosen)


async def fetch_elsewhere(settings: Settings, site: Site, *paths: str) -> Process:
    urls = [f"http://127.0.0.1:{site.port}{path}" for path in paths]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", _WORKER, settings.model_dump_json(), *urls, stdout=PIPE
    )


async def outcomes(process: Process) -> list[str]:
    out, _ = await process.communicate()
    return out.decode().split()


async def fetch(acquirer: Acquirer, site: Site, path: str) -> int:
    return (await acquirer.fetch(f"http://127.0.0.1:{site.port}{path}")).status


@pytest.mark.slow
def test_the_slots_of_a_host_are_shared_by_processes(database_url: str) -> None:
    running = most = 0

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await await_until(is_shared)
        await asyncio.sleep(0.15)  # a third would come
        running -= 1  # before the reply: afterwards the next request may come
        writer.write(HTML)

    async def is_shared() -> bool:
        return most > 1

    async def work() -> None:
        pages: dict[str, Page] = {f"/{number}": slow for number in range(6)}
        async with serving(pages) as site:
            settings = settings_for(site, database_url, webrag_obey_robots=False)
            workers = [await fetch_elsewhere(settings, site, *pages) for _ in range(2)]
            assert [await outcomes(worker) for worker in workers] == [["200"] * 6] * 2

    asyncio.run(work())
    assert most == 2
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM host_leases").fetchone() == (0,)


@pytest.mark.slow
def test_the_crawl_delay_holds_between_processes(database_url: str) -> None:
    arrivals: list[float] = []

    async def page(writer: asyncio.StreamWriter) -> None:
        arrivals.append(time.monotonic())
        writer.write(HTML)

    async def work() -> float:
        robots = reply(b"User-agent: *\nCrawl-delay: 1\n", "content-type: text/plain")
        async with serving({"/robots.txt": robots, "/a": page, "/b": page, "/c": page}) as site:
            settings = settings_for(site, database_url)
            began = time.monotonic()
            workers = [await fetch_elsewhere(settings, site, "/a", "/b", "/c") for _ in range(2)]
            assert [await outcomes(worker) for worker in workers] == [["200"] * 3] * 2
            return began

    began = asyncio.run(work())
    assert all(arrival - began >= number for number, arrival in enumerate(arrivals))  # the first is due at once
    assert len(arrivals) == 6


def test_retry_after_answered_to_one_process_holds_for_another(database_url: str) -> None:
    async def work() -> None:
        busy = reply(b"", "Retry-After: 3600", status="503 Later")
        async with serving({"/busy": busy, "/": HTML}) as site:
            settings = settings_for(site, database_url, webrag_obey_robots=False)
            assert await outcomes(await fetch_elsewhere(settings, site, "/busy")) == ["rate_limited"]
            async with await Database.open(settings) as database:
                acquirer = make_acquirer(settings, database=database)
                with pytest.raises(FetchError, match=r"wait 3[56]\d\d seconds") as caught:
                    await fetch(acquirer, site, "/")
                assert (caught.value.reason, caught.value.status) == (Reason.RATE_LIMITED, 503)
            assert [path for path, _ in site.requests] == ["/busy"]

    asyncio.run(work())


def test_the_slot_of_a_killed_process_expires(database_url: str) -> None:
    async def work() -> None:
        arrived, killed = asyncio.Event(), asyncio.Event()

        async def hang(_: asyncio.StreamWriter) -> None:
            arrived.set()
            await killed.wait()

        async with serving({"/hang": hang, "/": HTML}) as site:
            settings = settings_for(
                site, database_url, webrag_obey_robots=False, webrag_host_concurrency=1, webrag_fetch_timeout=2.0
            )
            holder = await fetch_elsewhere(settings, site, "/hang")
            await arrived.wait()
            holder.kill()
            await holder.wait()
            killed.set()
            async with await Database.open(settings) as database:
                async with database.connection() as connection:
                    cursor = await connection.execute("SELECT expires_at FROM host_leases")
                    expiry = await cursor.fetchone()
                assert expiry is not None
                assert await fetch(make_acquirer(settings, database=database), site, "/") == 200
                async with database.connection() as connection:
                    cursor = await connection.execute("SELECT clock_timestamp() >= %s", expiry)
                    assert await cursor.fetchone() == (True,)

    asyncio.run(work())


def test_without_the_database_the_limits_of_this_process_apply(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with serving({"/": HTML}) as site:
            settings = settings_for(site, database_url, webrag_obey_robots=False)
            database = await Database.open(settings)
            acquirer = make_acquirer(settings, database=database)
            await database.close()
            assert [await fetch(acquirer, site, "/") for _ in range(2)] == [200, 200]

    with caplog.at_level(logging.WARNING):
        asyncio.run(work())
    assert [record.message for record in caplog.records if "in this process only" in record.message] != []
    assert len(caplog.records) == 1


def test_leases_are_granted_in_the_order_of_arrival(database_url: str) -> None:
    async def work() -> None:
        async with await Database.open(Settings(database_url=database_url)) as database:
            leases, (first, second, third) = HostLeases(database), (uuid4(), uuid4(), uuid4())

            async def ahead(holder: UUID, host: str = "a.example") -> int | None:
                asked = await leases.request(host, holder, slots=1, delay_s=0, lease_s=60)
                return None if asked.granted else asked.ahead

            assert [await ahead(holder) for holder in (first, second, third)] == [None, 1, 2]
            await leases.release(first)
            assert [await ahead(holder) for holder in (third, second)] == [1, None]
            await leases.release(second)
            await leases.release(third)
            assert await ahead(first, "b.example") is None
            async with database.connection() as connection:  # a host that nobody asks is dropped when a new one comes
                cursor = await connection.execute("SELECT host FROM host_paces")
                assert await cursor.fetchall() == [("b.example",)]

    asyncio.run(work())


def test_a_cancelled_waiter_leaves_the_queue(database_url: str) -> None:
    async def work() -> None:
        async with serving({"/": HTML}) as site:
            settings = settings_for(site, database_url, webrag_obey_robots=False, webrag_host_concurrency=1)
            async with await Database.open(settings) as database:
                leases, holder = HostLeases(database), uuid4()
                await leases.request(f"127.0.0.1:{site.port}", holder, slots=1, delay_s=0, lease_s=60)
                acquirer = make_acquirer(settings, database=database)
                waiting = asyncio.create_task(fetch(acquirer, site, "/"))
                await asyncio.sleep(0.2)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                async with database.connection() as connection:
                    cursor = await connection.execute("SELECT holder FROM host_leases")
                    assert await cursor.fetchall() == [(holder,)]
                await leases.release(holder)
                assert await fetch(acquirer, site, "/") == 200

    asyncio.run(work())
