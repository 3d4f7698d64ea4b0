"""What was removed goes off the disk while others use the corpus, as a job of a server would have it."""

from __future__ import annotations

import json
import signal

import pytest

from tests.faults.homes import Home, url

pytestmark = [pytest.mark.slow, pytest.mark.alone]

SAID = b"Tea 3-5-0 is brewed"
_SCRUB = """
import asyncio
from webrag_core.application.upkeep import Scrub
from webrag_core.config import load_settings
from webrag_core.store.database import Database

async def work():
    settings = load_settings()
    async with await Database.open(settings) as database:
        print((await Scrub.of(by="a job", beside_others=True).change(database, settings)).model_dump_json())

asyncio.run(work())
"""
_USE = """
import os, signal, sys
from pathlib import Path
from webrag_core.store.embedded import embedded_url
embedded_url(Path(os.environ["WEBRAG_HOME"]))
print("up", flush=True)
signal.pause()
"""


def holding(home: Home) -> set[str]:
    return {str(file) for file in home.folder.rglob("*") if file.is_file() and SAID in file.read_bytes()}


def test_removed_text_goes_while_others_use_the_corpus(home: Home) -> None:
    before = home.state()
    home.webrag("forget", url(3), "--yes")
    assert holding(home)
    user = home._start(["-c", _USE], {})
    try:
        assert user.stdout is not None
        assert user.stdout.readline() == "up\n"
        assert "nothing was removed" in home.webrag("forget", "--scrub", code=1)
        report = json.loads(home.python(_SCRUB).splitlines()[-1])
    finally:
        user.send_signal(signal.SIGTERM)
        user.communicate()
    assert report["tables"] > 20
    assert any("vocabulary" in what for what in report["not_reached"])
    assert holding(home) == set()
    home.check({**before, "texts": [text for text in before["texts"] if text[0] != url(3)]})
