"""Store a few pages, and search only some of them."""

from demo_site import demo_settings

from webrag_core import ScopeFilter, SearchRequest, WebRAG

LIBRARY = "https://docs.python.org/3.11/library"

with WebRAG(demo_settings()) as rag:
    for url, page in rag.ingest_all([f"{LIBRARY}/math.html", f"{LIBRARY}/random.html"]).items():
        print(url, page if isinstance(page, Exception) else page.outcome)
    below = ScopeFilter(url_prefixes=[f"{LIBRARY}/random.html"], languages=["en"], types=["html"])
    rows = rag.search(SearchRequest(query="choose an integer at random", filters=below, top_k=3))
    for citation in rows.citations:
        print(f"{citation.relevance:.2f} {citation.verbatim_text!r}")
