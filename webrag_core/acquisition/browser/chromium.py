"""The system's Chromium as a program: where it is, how it is started without a network, how much memory it uses.

Chromium is to open no socket at all: every request is answered by us. Should one get past that, it meets a proxy and a
name server that are not there, and on Linux, where the system lets us, a network of its own with nothing in it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from webrag_core.errors import InvalidInputError

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell draws no window: less work for the same pages."""
MARK = "--webrag-render"
"""Flag with a token of its own for each render, by which its processes are found."""
MAX_MEMORY_BYTES = 1_500_000_000
"""Of all processes of one render: resident, shared pages counted for each."""

_FLAGS = (
    # a proxy that is not there, for loopback too; names that lead nowhere
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--no-pings",
    # nothing of its own accord
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",
    # requests are answered by us, so the browser's own guard of local addresses sees nothing
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,WebTransport,SharedWorker",
)


def find_chromium(configured: str | None) -> str:
    """Path of the browser: what is configured, else the first of NAMES. Raises InvalidInputError."""
    if configured is not None:
        if (path := shutil.which(configured)) is None:
            raise InvalidInputError(f"WEBRAG_BROWSER: there is no program {configured}")
        return path
    path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if path is None:
        raise InvalidInputError(
            "a source wants its pages rendered, and there is no Chromium: install it (Debian: chromium-headless-shell)"
            " or set WEBRAG_BROWSER to its path"
        )
    return path


def has_sandbox() -> bool:
    """Whether the browser confines its own processes. It cannot as root."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def arguments(token: str) -> list[str]:
    """Arguments of one render."""
    return [*_FLAGS, f"{MARK}={token}"]


def without_network(browser: str, folder: Path) -> str:
    """Path of a program that starts `browser` in a network with nothing in it; `browser` where that is not to be had.

    `folder` is an empty one that lives as long as the browser.
    """
    unshare = _unshare()
    if unshare is None:
        return browser
    program = folder / "chromium-without-network"
    program.write_text(f'#!/bin/sh\nexec {unshare} -- "{browser}" "$@"\n')
    program.chmod(stat.S_IRWXU)
    return str(program)


@cache
def _unshare() -> str | None:
    """The command for a network of its own, as root or in a user namespace; None where the system has neither."""
    if sys.platform != "linux" or (path := shutil.which("unshare")) is None:
        return None
    for options in ("--net", "--map-current-user --net"):
        command = [path, *options.split()]
        with suppress(OSError, subprocess.SubprocessError):
            if subprocess.run([*command, "--", "true"], capture_output=True, timeout=5).returncode == 0:
                return " ".join(command)
    return None


def environment(folder: Path) -> dict[str, str | float | bool]:
    """What the browser sees of ours: nothing that could be a secret."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "PATH", "TZ") if name in os.environ}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder)}


def processes(token: str) -> Iterator[psutil.Process]:
    """Processes of one render: those that carry its mark, and their children."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if f"{MARK}={token}" in process.cmdline():
                yield process
                yield from process.children(recursive=True)


def memory(token: str) -> int:
    """Bytes that the processes of a render hold."""
    total = 0
    for process in set(processes(token)):
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def kill(token: str) -> None:
    """End the processes of one render, at once."""
    for process in set(processes(token)):
        with suppress(psutil.Error):
            process.kill()
