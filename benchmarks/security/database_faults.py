"""Faults of the database, one after the other, each against the installed `webrag`: what must happen, did it?

Processes that start at once, servers and makings that are killed, files of earlier processes that are torn or lie,
locks that another session holds, a server that is read-only, full, slow, spent, away or not ours, a disk that fills up
(a small file system in memory, so as root). A command either does its work or ends within a minute with an error of a
stated code: no traceback, no password, nothing torn (`verify`). Prints a line for each, then how many of how many;
exit code 1 when one differs, or when the disk could not be tried.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from evals.walks.suites import DEMO_SITE

_WEBRAG = Path(sys.executable).with_name("webrag")
_PAGE = "https://docs.python.org/3.11/library/fractions.html"
_COMMAND_SECONDS = 60.0
_DISK_MB = 160
_PASSWORD = "hunter2"  # of nobody: it must not be printed


class Differs(Exception):
    """Something else happened than what must."""


class Corpus:
    """`webrag` on the embedded server of one WEBRAG_HOME."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.pid_file = home / "postgres" / "postmaster.pid"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """A command that runs beside others."""
        settings = {"WEBRAG_HOME": str(self.home), "WEBRAG_WARC": str(DEMO_SITE), **environment}
        return subprocess.Popen(
            [_WEBRAG, *arguments],
            cwd=self.home.parent,
            env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, code: str | Sequence[str] | None = None, **environment: str) -> str:
        """Run a command to its end; its standard output. `code`: the error or errors that must come."""
        with self.start(*arguments, "--json", **environment) as process:
            try:
                out, errors = process.communicate(timeout=_COMMAND_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Differs(f"{arguments[0]} did not end within {_COMMAND_SECONDS:g} s") from None
        expect("Traceback" not in errors and _PASSWORD not in out + errors, f"{arguments[0]}: {errors[-300:]}")
        if code is None:
            expect(process.returncode == 0, f"{arguments[0]}: {out[-300:]} {errors[-300:]}")
        else:
            expect(process.returncode == 1, f"{arguments[0]} ended with {process.returncode}")
            error = json.loads(out).get("error", {}).get("code")
            expect(error in ([code] if isinstance(code, str) else code), f"{arguments[0]}: {error} instead of {code}")
        return out

    def verify(self) -> None:
        """Nothing is torn."""
        self.run("verify")

    @contextmanager
    def held(self) -> Iterator[str]:
        """Keep the server up as another process does; yields its URL."""
        holder = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(self.home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        try:
            yield holder.stdout.readline().strip()
        finally:
            holder.communicate(timeout=_COMMAND_SECONDS)

    def postmaster(self) -> psutil.Process:
        """The server that runs."""
        return psutil.Process(int(self.pid_file.read_text().split("\n", 1)[0]))


_HOLD = """
import sys
from pathlib import Path
from webrag_core.store.embedded import embedded_url
print(embedded_url(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


def expect(holds: bool, otherwise: str) -> None:
    """Raise Differs unless it holds."""
    if not holds:
        raise Differs(otherwise)


# --- processes and files


def three_at_once(corpus: Corpus) -> None:
    """Three processes on a fresh home."""
    processes = [corpus.start("ingest", _PAGE, "--json") for _ in range(3)]
    errors = [process.communicate(timeout=2 * _COMMAND_SECONDS)[1] for process in processes]
    expect(all(process.returncode == 0 for process in processes), str(errors)[-300:])
    corpus.verify()
    expect(not corpus.pid_file.exists(), "the server still runs")


def server_killed_while_indexing(corpus: Corpus) -> None:
    """The server dies while a site is indexed: an error, and the next run finishes."""
    process = corpus.start("ingest", "--warc", str(DEMO_SITE), "--json")
    while not corpus.pid_file.exists():
        time.sleep(0.05)
    time.sleep(3)
    corpus.postmaster().kill()
    out, errors = process.communicate(timeout=2 * _COMMAND_SECONDS)
    expect("Traceback" not in errors, errors[-300:])
    expect(process.returncode == 0 or "database" in out, out[-300:])
    corpus.run("ingest", _PAGE)
    corpus.verify()


def orphaned_server(corpus: Corpus) -> None:
    """Killed and started again by another process, the server stops with the last one."""
    with corpus.held() as url:
        first = corpus.postmaster()
        first.kill()
        first.wait(10)
        corpus.run("status")
        psycopg.connect(url).close()
        second = corpus.postmaster()
    expect(second.pid != first.pid, "the server was not started again")
    second.wait(10)  # init may take a moment to reap it


def pid_file_says(text: str) -> Callable[[Corpus], None]:
    """A postmaster.pid of a process that is none."""

    def fault(corpus: Corpus) -> None:
        rest = [str(corpus.home / "postgres"), "1700000000", "5432", str(corpus.home / "postgres"), "", "1 1", "ready"]
        lines = [text, *rest] if text not in ("", "cut off") else [text] if text else []
        corpus.pid_file.write_text("\n".join(lines))
        shutil.chown(corpus.pid_file, corpus.pid_file.parent.owner())
        corpus.run("status")

    return fault


def torn_owner_list(corpus: Corpus) -> None:
    """The list in which earlier versions kept the processes that use the server."""
    (corpus.home / "postgres" / ".handle_pids.json").write_text(f"[{2**70}, ")
    corpus.run("status")


def killed_making(corpus: Corpus) -> None:
    """A making of the cluster that was killed."""
    other = Corpus(corpus.home.with_name("killed-making"))
    with other.start("status") as process:
        while not (other.home / "postgres" / "base").exists():
            time.sleep(0.01)
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
    other.run("status")


def folder_of_another(corpus: Corpus) -> None:
    """A home that another user has prepared."""
    other = Corpus(corpus.home.with_name("prepared"))
    other.home.mkdir()
    shutil.chown(other.home, "nobody")
    other.run("status", code="database_folder_refused")


# --- another session


@contextmanager
def _locked(url: str) -> Iterator[None]:
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE documents, document_versions IN ACCESS EXCLUSIVE MODE")
        yield


def locked(*arguments: str) -> Callable[[Corpus], None]:
    """A command while another session holds the tables."""

    def fault(corpus: Corpus) -> None:
        with corpus.held() as url, _locked(url):
            corpus.run(*arguments, code="database_busy", DATABASE_LOCK_TIMEOUT="2")

    return fault


def locked_tools(corpus: Corpus) -> None:
    """The MCP tools while another session holds the tables."""

    async def call(url: str) -> None:
        environment = {"WEBRAG_HOME": str(corpus.home), "WEBRAG_WARC": str(DEMO_SITE), "DATABASE_LOCK_TIMEOUT": "2"}
        server = StdioServerParameters(command=str(_WEBRAG), args=["mcp"], env=environment)
        async with Client(server) as client:
            await client.call_tool("status", {})
            with _locked(url):
                for name, values in (("status", {}), ("ingest", {"urls": _PAGE})):
                    result = await asyncio.wait_for(client.call_tool(name, values), _COMMAND_SECONDS)
                    text = "".join(part.text for part in result.content if isinstance(part, TextContent))
                    expect("database_busy" in text, f"{name}: {text[:300]}")

    with corpus.held() as url:
        asyncio.run(call(url))


# --- the server's own limits, and addresses


def with_database(setting: str, *arguments: str, code: str | None = None) -> Callable[[Corpus], None]:
    """A command while the database has this setting."""

    def fault(corpus: Corpus) -> None:
        with corpus.held() as url, psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f"ALTER DATABASE postgres SET {setting}".encode())
            try:
                corpus.run(*arguments, code=code)
            finally:
                admin.execute(f"ALTER DATABASE postgres RESET {setting.partition(' ')[0]}".encode())

    return fault


def with_address(change: Callable[[str], str], *, code: Sequence[str]) -> Callable[[Corpus], None]:
    """A command with another DATABASE_URL."""

    def fault(corpus: Corpus) -> None:
        with corpus.held() as url:
            corpus.run("status", code=code, DATABASE_URL=change(url))

    return fault


def without_rights(corpus: Corpus) -> None:
    """A role that may do nothing."""
    with corpus.held() as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE weak")
        try:
            corpus.run("status", code="database_unavailable", DATABASE_URL=f"{url}&options=-c%20role%3Dweak")
        finally:
            admin.execute("DROP ROLE weak")


def connections_spent(corpus: Corpus) -> None:
    """All of the server's connections are taken; afterwards everything works."""
    with corpus.held() as url, ExitStack() as taken:
        try:
            while True:
                taken.enter_context(psycopg.connect(url))
        except psycopg.OperationalError:
            corpus.run("status", code="database_unavailable", DATABASE_URL=url)
    corpus.run("status")


# --- the disk


@contextmanager
def _small_disk(folder: Path) -> Iterator[Corpus]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", str(folder)], check=True)
    try:
        yield Corpus(folder / "home")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _fill(corpus: Corpus, leave: int) -> Path:
    file = corpus.home.parent / "filler"
    free = shutil.disk_usage(corpus.home).free - leave
    with open(file, "ab") as filler:
        filler.write(bytes(max(0, free)))
    return file


def disk_nearly_full(corpus: Corpus) -> None:
    """300 KB left: a search works, or the error names the disk."""
    filler = _fill(corpus, 300_000)
    with corpus.start("search", "fraction", "--json") as process:
        out, _ = process.communicate(timeout=_COMMAND_SECONDS)
    expect(process.returncode == 0 or "disk_full" in out, out[-300:])
    filler.unlink()


def full_disk_server_down(corpus: Corpus) -> None:
    """The server cannot start, and the error names the disk."""
    filler = _fill(corpus, 0)
    corpus.run("search", "fraction", code="disk_full")
    filler.unlink()


def full_disk_search(corpus: Corpus) -> None:
    """What is stored is searched by a server that runs."""
    with corpus.held():
        corpus.run("status")
        filler = _fill(corpus, 0)
        corpus.run("search", "fraction")
        filler.unlink()


def full_disk_ingest(corpus: Corpus) -> None:
    """Pages that do not fit are refused, with the disk as the reason or a server that went down over it."""
    with corpus.held():
        corpus.run("status")
        filler = _fill(corpus, 0)
        corpus.run("ingest", "--warc", str(DEMO_SITE), code=("disk_full", "database_unavailable"))
        filler.unlink()


def space_again(corpus: Corpus) -> None:
    """With space again the same command finishes, and nothing is torn."""
    corpus.run("ingest", _PAGE, "--refresh")
    corpus.verify()


_FAULTS: dict[str, Callable[[Corpus], None]] = {
    "three processes on a fresh home": three_at_once,
    "server killed while indexing": server_killed_while_indexing,
    "server killed, started again by another process": orphaned_server,
    "postmaster.pid: empty": pid_file_says(""),
    "postmaster.pid: rubbish": pid_file_says("rubbish"),
    "postmaster.pid: another program": pid_file_says(str(os.getpid())),
    "postmaster.pid: 1": pid_file_says("1"),
    "postmaster.pid: -5": pid_file_says("-5"),
    "postmaster.pid: beyond 64 bits": pid_file_says(str(2**70)),
    "postmaster.pid: cut off": pid_file_says("cut off"),
    "torn owner list of an earlier version": torn_owner_list,
    "making of the cluster killed": killed_making,
    "home of another user": folder_of_another,
    "locked tables: status": locked("status"),
    "locked tables: search": locked("search", "fraction"),
    "locked tables: ingest --refresh": locked("ingest", _PAGE, "--refresh"),
    "locked tables: MCP status and ingest": locked_tools,
    "after the locks": lambda corpus: corpus.verify(),
    "read-only: search": with_database("default_transaction_read_only = on", "search", "fraction"),
    "read-only: status": with_database("default_transaction_read_only = on", "status"),
    "read-only: ingest": with_database(
        "default_transaction_read_only = on", "ingest", _PAGE, "--refresh", code="database_read_only"
    ),
    "statements of 1 ms at most": with_database(
        "statement_timeout = 1", "ingest", _PAGE, "--refresh", code="database_busy"
    ),
    "a role without rights": without_rights,
    "a database that is not there": with_address(
        lambda url: url.replace("/postgres?", "/nothing?"), code=("database_unavailable",)
    ),
    "an address that cannot be parsed": with_address(
        lambda _: f"me:{_PASSWORD}@127.0.0.1/db", code=("database_unavailable",)
    ),
    "a port where nobody listens": with_address(
        lambda _: f"postgresql://me:{_PASSWORD}@127.0.0.1:1/db", code=("database_unavailable",)
    ),
    "another user's server": with_address(
        lambda url: url.partition("&requirepeer")[0] + "&requirepeer=nobody", code=("database_unavailable",)
    ),
    "all connections spent, then free again": connections_spent,
}
_DISK_FAULTS: dict[str, Callable[[Corpus], None]] = {
    "small disk: three processes on a fresh home": three_at_once,
    "300 KB left": disk_nearly_full,
    "disk full, server down": full_disk_server_down,
    "disk full: search": full_disk_search,
    "disk full: ingest": full_disk_ingest,
    "space again": space_again,
}


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose name contains this, after the first")
    only = parser.parse_args().only
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    passed = 0
    first = next(iter(_FAULTS)), next(iter(_DISK_FAULTS))
    with tempfile.TemporaryDirectory() as temporary:
        Path(temporary).chmod(0o755)
        faults = [(name, fault, Corpus(Path(temporary) / "home")) for name, fault in _FAULTS.items()]
        with ExitStack() as stack:
            try:
                small = stack.enter_context(_small_disk(Path(temporary) / "disk"))
                faults += [(name, fault, small) for name, fault in _DISK_FAULTS.items()]
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"NOT TRIED  a disk that fills up: {error}")
            faults = [fault for fault in faults if only in fault[0] or fault[0] in first]
            for name, fault, corpus in faults:
                begun = time.perf_counter()
                try:
                    fault(corpus)
                except (Differs, subprocess.TimeoutExpired, psycopg.Error, OSError, psutil.Error) as error:
                    print(f"DIFFERS  {name}: {error}", flush=True)
                else:
                    passed += 1
                    print(f"as expected  {name}  ({time.perf_counter() - begun:.1f} s)", flush=True)
    print(f"{passed} of {len(faults)} faults as expected")
    sys.exit(0 if passed == len(faults) and (only or len(faults) == len(_FAULTS) + len(_DISK_FAULTS)) else 1)


if __name__ == "__main__":
    main()
