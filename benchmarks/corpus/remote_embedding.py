"""Indexing with a remote embedding model: how many requests, how many texts in each, how many under way at once.

The endpoint is a local server that speaks the wire format and answers after `--milliseconds`. First the pages are
indexed with it, then their vectors are built once more beside, for another model of it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np

from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.model_switch import build_model, list_models
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import OpenAIEmbedder

_VECTOR = base64.b64encode(np.full(256, 0.0625, dtype="<f4").tobytes()).decode()


@dataclass(slots=True)
class Endpoint:
    """Requests so far: the number of texts of each, and how many were under way when it came."""

    texts: list[int] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)
    running: int = 0
    lock: Lock = field(default_factory=Lock)

    def summary(self) -> dict[str, object]:
        """The figures, and a new beginning."""
        texts, at_once = self.texts, self.at_once
        self.texts, self.at_once = [], []
        return {"requests": len(texts), "texts_median": statistics.median(texts), "most_at_once": max(at_once)}


@contextmanager
def serving(endpoint: Endpoint, seconds: float) -> Iterator[str]:
    """The endpoint on a local port; its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            count = len(json.loads(self.rfile.read(int(self.headers["content-length"])))["input"])
            with endpoint.lock:
                endpoint.running += 1
                endpoint.texts.append(count)
                endpoint.at_once.append(endpoint.running)
            time.sleep(seconds)
            rows = [{"object": "embedding", "index": at, "embedding": _VECTOR} for at in range(count)]
            usage = {"prompt_tokens": 100 * count, "total_tokens": 100 * count}
            answer = json.dumps({"object": "list", "data": rows, "model": "bench", "usage": usage}).encode()
            with endpoint.lock:
                endpoint.running -= 1
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


async def measure(home: Path, pages: int, seconds: float) -> dict[str, object]:
    """Index and build, and return the figures of both."""
    endpoint = Endpoint()
    acquirer = WarcAcquirer(DEFAULT_SITE)
    urls = acquirer.page_urls()[:pages]
    with serving(endpoint, seconds) as url:
        settings = load_settings(
            webrag_home=home, database_url=None, embedding_base_url=url, embedding_model="a", embedding_dimensions=256
        )
        async with Corpus.open(settings, acquirer) as corpus:
            await corpus.add_all(urls, lambda url, outcome: None)
            ingest = endpoint.summary()
            other = OpenAIEmbedder(settings.model_copy(update={"embedding_model": "b"}))
            size, workers = settings.embedding_batch_size, settings.embedding_max_workers
            built = await build_model(corpus.database, other, batch_size=size, workers=workers)
            await other.aclose()
            tokens = {model.identity.name: model.tokens for model in await list_models(corpus.database)}
    return {
        "pages": len(urls),
        "ingest": ingest,
        "model_build": {**endpoint.summary(), "texts": built.embedded},
        "tokens_recorded": tokens,
    }


def main() -> None:
    """Print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--milliseconds", type=float, default=50.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder), arguments.pages, arguments.milliseconds / 1000))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
