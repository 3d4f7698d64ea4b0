"""Claims: one worker per name, in this process and among processes; nobody waits for the dead."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import psycopg
import pytest

from webrag_core.errors import StoreError
from webrag_core.store.claims import Claims
from webrag_core.store.server_access import ServerAccess

_HOLDER = """
import asyncio, sys
from webrag_core.store.claims import Claims
from webrag_core.store.server_access import ServerAccess
async def main():
    async with Claims(ServerAccess(sys.argv[1])).hold("page"):
        print("held", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


def test_two_tasks_and_two_sessions_take_turns(database_url: str) -> None:
    async def run() -> None:
        here, there = Claims(ServerAccess(database_url)), Claims(ServerAccess(database_url))
        working = 0
        most = 0

        async def work(claims: Claims, name: str) -> None:
            nonlocal working, most
            async with claims.hold(name):
                working += 1
                most = max(most, working)
                await asyncio.sleep(0.02)
                working -= 1

        await asyncio.gather(*(work(claims, "page") for claims in (here, there) * 4))
        assert most == 1
        async with here.hold("page"), here.hold("another"):  # one does not wait for the other
            pass
        await here.close()
        await there.close()

    asyncio.run(run())


def test_a_killed_holder_holds_nothing(database_url: str) -> None:
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, database_url], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"

    async def run() -> None:
        claims = Claims(ServerAccess(database_url))
        waiting = asyncio.create_task(_take(claims))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        holder.kill()
        await waiting
        await claims.close()

    asyncio.run(run())
    holder.wait()


def test_a_cancelled_waiter_and_a_failed_worker_leave_no_claim(database_url: str) -> None:
    async def run() -> None:
        here, there = Claims(ServerAccess(database_url)), Claims(ServerAccess(database_url))

        async def fail() -> None:
            async with here.hold("page"):
                waiting = asyncio.create_task(_take(there))
                await asyncio.sleep(0.1)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await fail()
        await _take(here)
        await _take(there)
        await here.close()
        await there.close()

    asyncio.run(run())


def test_a_lost_connection_loses_the_claim_and_not_the_work(database_url: str) -> None:
    async def run() -> None:
        claims = Claims(ServerAccess(database_url))
        async with claims.hold("page"):
            with psycopg.connect(database_url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
        await _take(claims)
        await claims.close()
        with pytest.raises(StoreError):
            await _take(Claims(ServerAccess("postgresql://nobody@127.0.0.1:1/none?connect_timeout=2")))

    asyncio.run(run())


async def _take(claims: Claims) -> None:
    async with claims.hold("page"):
        pass
