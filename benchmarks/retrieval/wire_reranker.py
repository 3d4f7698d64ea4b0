"""The bundled reader behind the wire format of a reranking provider (ZeroEntropy), on loopback.

It costs nothing and reads as the free path does, so a run through it shows what the path of a configured provider adds
or loses by itself: `python -m benchmarks.retrieval.wire_reranker --port 8790`, then `webrag eval sitewalk` with
RERANKER_PROVIDER=zeroentropy RERANKER_BASE_URL=http://127.0.0.1:8790.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from pydantic import BaseModel

from webrag_core.retrieval.reader import best_window, reading_scores

_READING = Lock()  # one reading at a time: the others would only share its cores


class RerankRequest(BaseModel):
    """The body of a request, as far as it is read."""

    query: str
    documents: list[str]


def scores(request: RerankRequest) -> list[float]:
    """What the reader says of the best window of each passage, clipped to [0, 1], in order."""
    windows = [best_window(request.query, passage) for passage in request.documents]
    with _READING:
        return [min(1.0, max(0.0, score)) for score in reading_scores(request.query, windows)]


class Handler(BaseHTTPRequestHandler):
    """Answers POST /models/rerank."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Rank the documents of the request."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        request = RerankRequest.model_validate_json(body)
        rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores(request))]
        size = len(body)
        answer = {
            "actual_latency_mode": "fast",
            "e2e_latency": 0.0,
            "inference_latency": 0.0,
            "results": sorted(rows, key=lambda row: -row["relevance_score"]),
            "total_bytes": size,
            "total_tokens": size // 4,
        }
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8790)
    with ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
