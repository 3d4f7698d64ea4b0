"""The sandbox of workers: a parser that was taken over can compute, and little else."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion import sandbox
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.worker import WorkerPool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is made of Linux")

URL = "https://site.example/"
PAGE = AcquiredPage(URL, URL, 200, {"content-type": "text/html"}, b"x", datetime.now(UTC), 1)

FORBIDDEN: dict[str, Callable[[], object]] = {
    "network": lambda: socket.socket(),
    "socket of the machine": lambda: socket.socket(socket.AF_UNIX),
    "program": lambda: os.execv("/bin/true", ["true"]),
    "child program": lambda: subprocess.run(["/bin/true"]),
    "child": lambda: os._exit(0) if os.fork() == 0 else "forked",
    "new file": lambda: Path("made").write_text("by a worker"),
    "existing file": lambda: os.open(__file__, os.O_WRONLY),
    "folder": lambda: Path("made").mkdir(),
    "deletion": lambda: Path(__file__).unlink(),
    "renaming": lambda: Path(__file__).rename("made"),
    "permissions": lambda: Path(__file__).chmod(0o777),
    "environment of the parent": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "memory of the parent": lambda: os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY),
    "limits of the parent": lambda: resource_of(os.getppid()),
    "signal to the parent": lambda: os.kill(os.getppid(), 0),
    "file of the system": lambda: Path("/etc/passwd").read_bytes(),
    "file of the clone": lambda: (REPOSITORY / "pyproject.toml").read_bytes(),
    "home": lambda: os.listdir(Path.home()),
}
ALLOWED: dict[str, Callable[[], object]] = {
    "thread": lambda: in_a_thread(),
    "library": lambda: (Path(sysconfig.get_path("stdlib")) / "wave.py").read_bytes(),
    "limits of its own": lambda: resource_of(0),
}


def resource_of(pid: int) -> object:
    import resource

    return resource.prlimit(pid, resource.RLIMIT_CPU)


def in_a_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def attempt(asked: AcquiredPage) -> ConvertedPage:
    """Try each of both lists and say what came of it; runs in the worker."""
    results = []
    for name, action in {**FORBIDDEN, **ALLOWED}.items():
        try:
            action()
            results.append(f"{name}: done")
        except OSError as error:
            results.append(f"{name}: {type(error).__name__}")
    return ConvertedPage("\n".join(results), None, None, None, None, None, ())


def test_a_worker_can_compute_and_little_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pool = WorkerPool(1, conversion=f"{__name__}:attempt")
    try:
        results = asyncio.run(pool.convert(PAGE)).markdown.splitlines()
    finally:
        pool.close()
    assert results == [f"{name}: PermissionError" for name in FORBIDDEN] + [f"{name}: done" for name in ALLOWED]
    assert list(tmp_path.iterdir()) == []


def test_a_worker_says_what_it_took_away() -> None:
    assert set(WorkerPool(1).sandbox().values()) == {None}


def verdict(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter answers to a system call: the kernel's virtual machine in small."""
    shown = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("HBBI", program))
    place = loaded = 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", shown, value)[0]
            case 0x06:
                return value & 0xFFFF if value != 0x7FFF0000 else 0
            case 0x15:
                place += yes if loaded == value else no
            case 0x35:
                place += yes if loaded >= value else no
            case 0x45:
                place += yes if loaded & value else no


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_of_each_processor_refuses_the_same(machine: str) -> None:
    column, audit = sandbox._ARCHITECTURES[machine]
    program = sandbox._program(column, audit)
    openat, clone, tgkill, prlimit, read = (257, 56, 234, 302, 0) if column == 0 else (56, 220, 131, 261, 63)

    def answer(number: int, *arguments: int) -> int:
        return verdict(program, audit, number, *arguments)

    assert answer(read) == answer(openat, 0, 0, os.O_RDONLY | os.O_CLOEXEC) == answer(clone, 0x10F00) == 0
    assert answer(tgkill, os.getpid(), 1, 6) == answer(prlimit, 0, 7) == 0
    refused = [call[column] for call in sandbox._REFUSED.values() if call[column] is not None]
    assert {answer(number) for number in refused} == {errno.EPERM}
    assert {answer(openat, 0, 0, flag) for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT)} == {errno.EPERM}
    assert answer(clone, 0x11) == answer(tgkill, 1, 1, 9) == answer(prlimit, 1, 7) == errno.EPERM
    assert answer(435) == answer(437) == errno.ENOSYS
    assert verdict(program, audit ^ 1, read) == answer(0x40000000 + read) == errno.EPERM


def test_what_the_sandbox_lacks_is_reported_and_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    pool = WorkerPool(1, conversion="unconfined", program="tests.conversion.hostile_worker")
    for _ in range(2):
        assert asyncio.run(pool.convert(PAGE)).title == "T"
        pool.close()
    assert caplog.text.count("not fully confined on this machine: files: no Landlock here") == 1
    assert pool.sandbox() == {"files": "no Landlock here", "network": None}
