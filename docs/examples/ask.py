"""Ask a question, and print the answer with what proves it."""

from demo_site import QUESTION, START, demo_settings

from webrag_core import WebRAG

with WebRAG(demo_settings()) as rag:
    answer = rag.ask(QUESTION, urls=(START,))
    print(f"{answer.status}, confidence {answer.confidence:.0%}")
    for sentence in answer.sentences:
        print(f"- {sentence.text}")
        for number in sentence.citations:
            quote = answer.citation(number)
            print(f"  [{number}] {quote.url}, version {quote.version}, characters {quote.char_start}-{quote.char_end}")
