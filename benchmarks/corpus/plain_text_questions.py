"""Whether facts in prose that is laid out with blanks are found: `python -m benchmarks.corpus.plain_text_questions`.

Every text of a folder is served as HTML with one <pre>, and then as text/plain; both are ingested into an empty corpus
each, and the questions of `questions.jsonl` are searched for. A question counts when the passage that holds its
evidence is among the first three, however its lines are broken, and as answered when a sentence of the answer in
prose holds it. Prints one JSON object, with the questions missed.
"""

from __future__ import annotations

import argparse
import html
import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.sync import WebRAG

_FOLDER = Path(__file__).parent / "plain_text"
_FIRST = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question on the text `page`, and words of the sentence that answers it."""

    page: str
    question: str
    evidence: str


def main() -> None:
    """Measure both ways of serving the texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=_FOLDER, help="texts (*.txt) with questions.jsonl")
    folder: Path = parser.parse_args().folder
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [Question(**json.loads(line)) for line in lines]
    print(json.dumps({way: _measured(texts, questions, way) for way in ("pre", "text")}, indent=1))


def _measured(texts: dict[str, str], questions: list[Question], way: str) -> dict[str, object]:
    """Recall among the first passages, and the questions that are missed, of texts that are served one way."""
    with tempfile.TemporaryDirectory() as home, _served(texts, way) as port:
        settings = load_settings(webrag_home=Path(home), webrag_allow_hosts=f"127.0.0.1:{port}")
        with WebRAG(settings) as rag:
            for name, stored in rag.ingest_all(f"http://127.0.0.1:{port}/{name}" for name in texts).items():
                if isinstance(stored, FetchError):
                    raise SystemExit(f"{name}: {stored.message}")
            missed = [question.question for question in questions if not _is_found(rag, question)]
            answered = sum(_is_answered(rag, question) for question in questions)
    result = len(questions) - len(missed)
    return {"questions": len(questions), "found": result, "answered": answered, "missed": missed}


def _is_found(rag: WebRAG, question: Question) -> bool:
    """Whether the evidence stands in one of the first passages, in the order of what is quoted of them."""
    result = rag.search(question.question)
    texts = {each.chunk.chunk_id: _folded(each.chunk.text) for each in result.chunks}
    first = list(dict.fromkeys(span.chunk_id for span in result.citations))[:_FIRST]
    return any(_folded(question.evidence) in texts.get(number, "") for number in first)


def _is_answered(rag: WebRAG, question: Question) -> bool:
    """Whether the evidence stands in a proved sentence of the answer."""
    evidence = _folded(question.evidence)
    return any(evidence in _folded(sentence.text) for sentence in rag.ask(question.question).sentences)


def _folded(text: str) -> str:
    return " ".join(text.replace("\\", "").split())


@contextmanager
def _served(texts: dict[str, str], way: str) -> Iterator[int]:
    """Serve the texts; yields the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = texts.get(self.path.lstrip("/"))
            body = text or ""
            if way == "pre":
                body = f"<html><body><pre>\n{html.escape(body, quote=False)}</pre></body></html>"
            self.send_response(404 if text is None else 200)
            self.send_header("Content-Type", f"text/{'html' if way == 'pre' else 'plain'}; charset=utf-8")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


if __name__ == "__main__":
    main()
