"""`.env` of the working directory, which Dagster's processes load: `webrag up` does not start beside a stray one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.alone, pytest.mark.slow]

SCRIPT = Path(sys.executable).with_name("webrag")


def test_up_does_not_start_beside_a_file_that_nobody_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (tmp_path / ".env").write_text("WEBRAG_ALLOW_HOSTS=127.0.0.1:80\n")
    (tmp_path / ".env").chmod(0o600)
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        port = str(busy.getsockname()[1])

        def up(*options: str) -> str:
            command = [SCRIPT, *options, "up", "--port", port]
            done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False)
            assert done.returncode == 2
            return done.stderr

        assert f"Dagster's processes would load {tmp_path / '.env'}" in up()
        assert not (tmp_path / ".webrag").exists()
        named = up("--env-file", ".env")
    assert "Dagster's processes" not in named
    assert f"port {port}" in named
