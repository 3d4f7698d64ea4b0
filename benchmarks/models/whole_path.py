"""The whole path on a real model of this machine: analysis, plan, judge, composer and embeddings, over real HTTP.

    make bench-model MODEL=FILE.gguf

A llama.cpp server serves the file twice, for chats and for vectors. A small site is read, and three questions are put,
one of which it does not answer. This shows that prompts, schemas and time limits hold with a weak model, not quality: a
model of 1 to 2 billion parameters judges badly.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.local_server import LocalHandler, local_server
from benchmarks.models.exchanges import Exchange, passing_on
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings, load_settings
from webrag_core.indexing.pipeline import Corpus

QUESTIONS = (
    "How hot may the water in the glass kettle be?",
    "What do I need to descale the kettle, and how long does it take?",
    "Who designed the kettle?",
)
_SECONDS = 900.0
_DIMENSIONS_PROBE = "water"

PAGES = {
    "/": """<title>Kettles</title><h1>Kettles</h1><p>This manual is about the glass kettle and the copper kettle.</p>
<ul><li><a href="/use.html">Using a kettle</a></li><li><a href="/care.html">Care and descaling</a></li>
<li><a href="/warranty.html">Warranty</a></li></ul>""",
    "/use.html": """<title>Using a kettle</title><h1>Using a kettle</h1><h2>Glass kettle</h2>
<p>The water in the glass kettle may be heated to 95 degrees Celsius. Never fill it above the upper mark.</p>
<h2>Copper kettle</h2><p>The water in the copper kettle may boil. It holds 1.8 litres.</p>""",
    "/care.html": """<title>Care and descaling</title><h1>Care and descaling</h1>
<p>Descale the kettle once a month. You need 50 ml of vinegar essence and half a litre of water.</p>
<ol><li>Pour water and essence into the kettle.</li><li>Leave them for 30 minutes.</li><li>Rinse twice.</li></ol>""",
    "/warranty.html": """<title>Warranty</title><h1>Warranty</h1>
<p>The warranty lasts two years from the day of purchase. Keep the receipt.</p>""",
}


@contextmanager
def model_server(model: Path, *options: str) -> Iterator[str]:
    """The address of a llama.cpp server of `model`, as long as the block lasts."""
    command = [sys.executable, "-m", "benchmarks.models.llama_server", str(model), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise SystemExit("the model's server did not start: is the package of requirements-model.txt there?")
            yield address
        finally:
            process.terminate()


@contextmanager
def site() -> Iterator[str]:
    """The address of the small site, as long as the block lasts."""

    class Handler(LocalHandler):
        def do_GET(self) -> None:
            page = PAGES.get(self.path)
            body = ("<html lang=en>" + page if page else "not found").encode()
            self.reply(200 if page else 404, "text/html; charset=utf-8", body)

    with local_server(Handler) as address:
        yield f"{address}/"


async def ask_all(settings: Settings, start: str) -> list[Answer]:
    """The answers to QUESTIONS, in order, on an empty corpus."""
    async with Corpus.open(settings) as corpus:
        manager = Manager(corpus)
        return [await manager.answer(Question(text, urls=(start,))) for text in QUESTIONS]


def row(answer: Answer) -> dict[str, object]:
    """What a reader of the report wants to know of an answer."""
    return {
        "question": answer.question,
        "status": answer.status,
        "confidence": round(answer.confidence, 2),
        "composer": answer.composer,
        "sentences": [sentence.text for sentence in answer.sentences],
        "judge": None if answer.verdict is None else [answer.verdict.sufficient, answer.verdict.probability],
        "chat calls": answer.spent.chat_calls,
        "seconds": round(answer.spent.seconds, 1),
        "warnings": [str(warning) for warning in answer.warnings],
    }


def summary(exchanges: list[Exchange]) -> dict[str, object]:
    """By purpose: exchanges, refused ones, replies that are no object, median seconds and tokens."""
    table: dict[str, object] = {}
    for purpose in sorted({exchange.purpose for exchange in exchanges}):
        rows = [exchange for exchange in exchanges if exchange.purpose == purpose]
        table[purpose] = {
            "exchanges": len(rows),
            "refused": sum(exchange.status != 200 for exchange in rows),
            "no object": sum(exchange.is_object is False for exchange in rows),
            "median s": round(statistics.median(exchange.seconds for exchange in rows), 1),
            "median tokens in": statistics.median(exchange.tokens_in for exchange in rows),
            "median tokens out": statistics.median(exchange.tokens_out for exchange in rows),
        }
    return table


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    model: Path = parser.parse_args().model
    if not model.is_file():
        raise SystemExit(f"there is no file {model}")
    with ExitStack() as stack:
        start = stack.enter_context(site())
        chat, chats = stack.enter_context(passing_on(stack.enter_context(model_server(model))))
        vectors = stack.enter_context(model_server(model, "--embeddings"))
        embedding, embeddings = stack.enter_context(passing_on(vectors))
        home = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        Path(home).chmod(0o755)
        settings = load_settings(
            webrag_home=home,
            webrag_allow_hosts=start.removeprefix("http://").rstrip("/"),
            orchestration_llm_base_url=chat,
            orchestration_llm_model=model.stem,
            orchestration_llm_timeout=_SECONDS,
            answer_llm_timeout=_SECONDS / 4,
            answer_seconds=_SECONDS,
            webrag_answer_timeout=_SECONDS,
            webrag_router="llm",
            judge="llm",
            judge_doubt_from=0.0,
            judge_doubt_to=1.0,
            embedding_base_url=embedding,
            embedding_model=model.stem,
            embedding_dimensions=dimensions_of(embedding),
            embedding_timeout=_SECONDS,
        )
        answers = asyncio.run(ask_all(settings, start))
        print(
            json.dumps(
                {"answers": [row(answer) for answer in answers], "exchanges": summary([*chats, *embeddings])},
                indent=2,
                ensure_ascii=False,
            )
        )


def dimensions_of(base_url: str) -> int:
    """The length of the vectors of an embeddings endpoint."""
    import openai

    client = openai.OpenAI(base_url=base_url, api_key="none")
    return len(
        client.embeddings.create(model="any", input=_DIMENSIONS_PROBE, encoding_format="float").data[0].embedding
    )


if __name__ == "__main__":
    main()
