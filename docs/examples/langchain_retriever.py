"""Use the stored pages in LangChain (needs `pip install 'webrag[langchain]'`)."""

from demo_site import QUESTION, demo_settings

from webrag_core import WebRAG
from webrag_core.integrations.langchain import WebragRetriever

with WebRAG(demo_settings()) as rag:
    rag.ingest("https://docs.python.org/3.11/library/math.html")
    for document in WebragRetriever(corpus=rag, k=2).invoke(QUESTION):
        where = document.metadata
        print(f"{where['score']:.2f} {where['url']} {where['char_start']}-{where['char_end']} {where['sha256'][:12]}")
