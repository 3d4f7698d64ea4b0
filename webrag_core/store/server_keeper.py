"""`python -m webrag_core.store.server_keeper HOME SHARE KEPT SECONDS`: waits in the place of a user that ended."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from webrag_core.store.embedded import exit_on_sigterm, keep_share, leave
from webrag_core.store.kept_server import wait_until_moment


def main(home: Path, share: int, kept: int, seconds: float) -> None:
    """Wait until the moment of `kept`, then leave the server whose `users` the descriptor `share` shares."""
    exit_on_sigterm()
    run_folder, server = keep_share(home, share)
    with suppress(SystemExit):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # as it was when this process was started
        wait_until_moment(kept, seconds)
    os.close(kept)  # a user that ends from now on starts another process
    leave(run_folder, server)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
