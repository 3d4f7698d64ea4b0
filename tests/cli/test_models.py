"""`webrag model …`: from the offline model to an endpoint and back, as an operator would."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.cli.test_cli import ASYNCIO
from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from tests.provider_server import Call, serving

__all__ = ["webrag_here"]

DIMENSIONS = 8


def embeddings(call: Call) -> dict[str, Any]:
    """An OpenAI-compatible answer: for each input a vector that depends on nothing but its text."""
    rows = [
        {"index": index, "embedding": [byte / 255 + 0.01 for byte in hashlib.sha256(text.encode()).digest()[:8]]}
        for index, text in enumerate(call.body["input"])
    ]
    return {"object": "list", "data": rows, "model": call.body["model"], "usage": {}}


def test_build_switch_and_switch_back(webrag_here: Webrag) -> None:
    frozen = {"WEBRAG_WARC": str(FROZEN_SITE)}
    assert webrag_here("ingest", ASYNCIO, **frozen).returncode == 0
    with serving(embeddings) as server:
        remote = {
            "EMBEDDING_BASE_URL": server.url,
            "EMBEDDING_MODEL": "eight",
            "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        }
        refused = webrag_here("search", "event loop", "--json", **remote)
        assert refused.returncode == 1
        assert json.loads(refused.stdout)["error"]["code"] == "embedding_model_mismatch"
        assert "webrag model build" in refused.stderr

        early = webrag_here("model", "switch", "--json", **remote)
        assert json.loads(early.stdout)["error"]["code"] == "invalid_input"
        built = json.loads(webrag_here("model", "build", "--json", **remote).stdout)
        assert built["embedded"] == built["vectors"] > 0
        assert json.loads(webrag_here("model", "switch", "--json", **remote).stdout)["live"]["name"] == "eight"
        assert webrag_here("search", "event loop", **remote).returncode == 0
        assert webrag_here("verify").returncode == 0
    assert webrag_here("search", "event loop").returncode == 1

    again = json.loads(webrag_here("model", "build", "--json").stdout)
    assert again["embedded"] == 0
    assert webrag_here("model", "switch").returncode == 0
    assert webrag_here("search", "event loop").returncode == 0
    listed = json.loads(webrag_here("model", "list", "--json").stdout)["models"]
    assert {model["state"]: model["missing"] for model in listed} == {"live": 0, "retired": 0}
