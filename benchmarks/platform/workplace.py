"""A place of their own for the platform's benchmarks: empty instance, empty corpus, frozen site, free port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.platform.graphql import Ui
from evals.walks.goldens import DEFAULT_SITE

ROOT = Path(__file__).resolve().parents[2]
_SECONDS_TO_START = 180


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder with dagster.yaml that this process and its children use for everything."""

    folder: Path
    port: int

    @property
    def ui(self) -> Ui:
        """The UI, when it runs."""
        return Ui(f"http://127.0.0.1:{self.port}")

    @contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """`command` in the folder, until its UI is up; asked to end afterwards. Raises RuntimeError with its log."""
        log = self.folder / "log.txt"
        with log.open("wb") as stream:
            process = subprocess.Popen(command, cwd=self.folder, stdout=stream, stderr=stream)
        try:
            deadline = time.monotonic() + _SECONDS_TO_START
            while not self.ui.is_up():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(log.read_text(errors="replace")[-2000:])
                time.sleep(0.3)
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()

    def up(self) -> tuple[str, ...]:
        """The command that starts everything."""
        return (str(Path(sys.executable).with_name("webrag")), "up", "--port", str(self.port))


@contextmanager
def workplace() -> Iterator[Workplace]:
    """The environment of this process points into the place as long as it is open."""
    # the database server may still write into the folder that is removed
    removed = tempfile.TemporaryDirectory(prefix="webrag-bench-", ignore_cleanup_errors=True)
    with removed as name, socket.socket() as probe:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(ROOT / "dagster.yaml", folder)
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        before, cwd = dict(os.environ), Path.cwd()
        os.environ.pop("DATABASE_URL", None)
        os.environ |= {"DAGSTER_HOME": name, "WEBRAG_HOME": str(folder / ".webrag"), "WEBRAG_WARC": str(DEFAULT_SITE)}
        os.environ["WEBRAG_SERVE_OPEN"] = "1"
        os.chdir(folder)
        try:
            yield Workplace(folder, port)
        finally:
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(before)
