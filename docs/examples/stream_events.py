"""Show what happens while an answer comes into being."""

import asyncio
from contextlib import aclosing

from demo_site import QUESTION, START, demo_settings

from webrag_core import Corpus, Manager, Question


async def main() -> None:
    async with Corpus.open(demo_settings()) as corpus:
        question = Question(QUESTION, urls=(START,))
        async with aclosing(Manager(corpus).stream(question)) as events:
            async for event in events:
                match event.type:
                    case "phase" | "round":
                        print(f"{event.type}: {event.text}")
                    case "page":
                        print(f"page: {event.page.outcome} {event.page.url}")
                    case "sentence":
                        print(f"sentence: {event.sentence.text}")
                    case "done":
                        print(f"done: {event.answer.status}")


asyncio.run(main())
