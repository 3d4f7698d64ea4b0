"""A system without POSIX is refused in one sentence, by the import and by the command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from webrag_core.errors import UnsupportedPlatformError
from webrag_core.posix import require_posix

SENTENCE = "WebRAG needs a POSIX system: Linux, macOS or WSL"
WINDOWS = "import os; os.name = 'nt'; "


def test_only_posix_systems_are_accepted() -> None:
    require_posix("posix")
    with pytest.raises(UnsupportedPlatformError) as refused:
        require_posix("nt")
    assert refused.value.message == SENTENCE
    assert isinstance(refused.value, ImportError)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import webrag; webrag.main()", f"error: {SENTENCE}"),
        ("import webrag_core", f"webrag_core.errors.UnsupportedPlatformError: {SENTENCE}"),
    ],
)
def test_the_command_and_the_import_say_it(code: str, message: str) -> None:
    done = subprocess.run([sys.executable, "-c", WINDOWS + code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == message
    assert ("Traceback" in done.stderr) == (code == "import webrag_core")
