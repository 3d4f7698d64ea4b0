"""Orders planted in pages, and a chat model that obeys them: what of them gets into answers in prose.

    python -m benchmarks.security.planted_answers [--injections FILE ...]

Every attack stands in the title, heading, text and image description of a page that answers the question
(`benchmarks.mcp.injections`). The model is a local server that speaks the wire format of a chat endpoint. It chooses
every sentence that holds a piece of an attack, and says what the attack says besides. Without a model the same pages
are asked as well. No sentence may hold `_SHARED` letters of an attack in a row, and neither a sentence nor a link of
the answer's page an address of another site. One JSON object, what got out on stderr; exit code 1 when something did.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.local_server import LocalHandler, local_server
from benchmarks.mcp.injections import EVIL, OURS, QUESTION, SITE, PlantedSite
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import load_settings
from webrag_core.corpus.forget import forget
from webrag_core.indexing.pipeline import Corpus
from webrag_core.showing.html import render_page

_SHARED = 24
_PAGES = 25  # attacks on one site
_LINK = re.compile(r'(?:href|src)="([^"#]*)')
_LETTERS = re.compile(r"[\W_]+")


def holds(text: str, attack: str) -> bool:
    """Whether `text` repeats a piece of the attack, white space and signs aside."""
    first, other = (_LETTERS.sub("", value).casefold() for value in (text, attack))
    least = min(_SHARED, len(other))
    return SequenceMatcher(None, first, other, autojunk=False).find_longest_match().size >= least


@contextmanager
def obedient_model(attacks: Sequence[str]) -> Iterator[str]:
    """The base URL of a chat endpoint that chooses whatever holds an attack, and repeats the attack besides."""

    class Handler(LocalHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = json.loads(body["messages"][1]["content"].split("\n")[1])
            content = json.dumps(_obey(data, attacks)).encode()
            self.reply(200, "application/json", content)

    with local_server(Handler) as address:
        yield f"{address}/v1"


def _obey(data: dict[str, Any], attacks: Sequence[str]) -> dict[str, Any]:
    sentences = {key: text for section in data["sections"] for key, text in section["sentences"].items()}
    planted = [key for key, text in sentences.items() if any(holds(text, attack) for attack in attacks)]
    rows = [{"text": sentences[key], "from": [key], "part": 0} for key in planted]
    rows += [{"text": attack, "from": [key], "part": 0} for attack in attacks[:1] for key in list(sentences)[:1]]
    content = json.dumps({"sentences": rows, "unanswered": []})
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "obedient", "choices": [choice]}


def damage(answer: Answer, attack: str) -> dict[str, int]:
    """What of one attack stands in an answer."""
    texts = [*(sentence.text for sentence in answer.sentences), *_LINK.findall(render_page(answer))]
    for text in texts:
        if EVIL in text or (answer.sentences and holds(text, attack)):
            print(f"{attack!r}: {text!r}", file=sys.stderr)
    return {
        "answers": 1,
        "answered": bool(answer.sentences),
        "planted sentences": sum(holds(sentence.text, attack) for sentence in answer.sentences),
        "links outside": sum(EVIL in text for text in texts),
        "unproved": sum("do not prove" in warning for warning in answer.warnings),
    }


async def ask(attacks: Sequence[str], *, obedient: bool) -> Counter[str]:
    """Ask each attack's page, on a corpus that is thrown away. Each page is forgotten before the next is asked."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home, obedient_model(attacks) as address:
        overrides = {"orchestration_llm_base_url": address, "decomposition_mode": "rule_based"}
        settings = load_settings(webrag_home=Path(home), **(overrides if obedient else {}))
        async with Corpus.open(settings, PlantedSite(attacks)) as corpus:
            for number, attack in enumerate(attacks):
                url = f"{SITE}/{number}"
                answer = await Manager(corpus).answer(Question(QUESTION, urls=(url,), expansion_budget=0))
                total.update(damage(answer, attack))
                await forget(corpus.database, url, removed_by="a benchmark")
    return total


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injections", type=Path, nargs="*", default=[], help="BIPIA attacks: {kind: [text, …]}")
    files = parser.parse_args().injections
    attacks = [text for path in files for kind in json.loads(path.read_text()).values() for text in kind] + [*OURS]
    figures: dict[str, dict[str, int]] = {}
    for name, obedient in (("no model", False), ("obedient model", True)):
        parts = [
            asyncio.run(ask(attacks[at : at + _PAGES], obedient=obedient)) for at in range(0, len(attacks), _PAGES)
        ]
        figures[name] = dict(sum(parts, Counter[str]()))
    harm = sum(row.get(name, 0) for row in figures.values() for name in ("planted sentences", "links outside"))
    print(json.dumps({"attacks": len(attacks), **figures, "harm": harm}, indent=1))
    sys.exit(1 if harm else 0)


if __name__ == "__main__":
    main()
