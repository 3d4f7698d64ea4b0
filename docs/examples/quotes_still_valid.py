"""See whether the quotes of past answers still stand, and what their pages said when."""

from demo_site import QUESTION, START, demo_settings

from webrag_core import WebRAG

with WebRAG(demo_settings()) as rag:
    answer = rag.ask(QUESTION, urls=(START,))
    for one in rag.citations(answer):
        print(f"[{one.number}] {one.state}: {one.url}, version {one.cited_version}")
    url = answer.citations[0].url
    for period in rag.history(url).periods:
        print(f"version {period.version}: seen from {period.seen_from:%Y-%m-%d} to {period.seen_last:%Y-%m-%d}")
    print(rag.page_at(url, "2001").note)
