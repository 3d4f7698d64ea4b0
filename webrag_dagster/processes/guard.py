"""A process that outlives the supervisor by a moment: it ends the services of one that was killed without a word.

The supervisor alone holds the other end of the guard's standard input. Each line is a record; when the input ends, the
last one says what there is to end, at once and on every system.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from webrag_dagster.processes.leftovers import end_leftovers
from webrag_dagster.processes.record import Mark, Record


class Guard:
    """The supervisor's end."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process = self._start()
        self._mark = Mark.of(self._process.pid)

    def look_after(self, record: Record) -> Record:
        """Tell the guard; one that is gone is replaced. Returns the record with the guard that has it."""
        try:
            return self._tell(record)
        except BrokenPipeError:
            self._process.wait()
            self._process = self._start()
            self._mark = Mark.of(self._process.pid)
            return self._tell(record)

    def dismiss(self) -> None:
        """Nothing is left to guard."""
        self._process.kill()
        self._process.wait()

    def _tell(self, record: Record) -> Record:
        stream = self._process.stdin
        assert stream is not None
        stream.write(record.model_dump_json().encode() + b"\n")
        return record.model_copy(update={"guard": self._mark})

    def _start(self) -> subprocess.Popen[bytes]:
        # a session of its own: what ends the supervisor's terminal or group must not end the guard
        command = (sys.executable, "-m", "webrag_dagster.processes.guard")
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True, env=self._environment
        )


def main() -> None:
    """Wait for the end of the input."""
    last = b""
    for line in sys.stdin.buffer:
        if line.endswith(b"\n"):  # a line that was cut off was not meant
            last = line
    if last:
        end_leftovers(Record.model_validate_json(last))


if __name__ == "__main__":
    main()
