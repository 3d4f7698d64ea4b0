"""WebRAG beside what else one could use for the same pages and questions, in one run: `make bench-peers`.

The peers have an environment of their own (`requirements-peers.txt`) and run in processes of their own; `lines` is what
both sides speak. Modules that run there import nothing of WebRAG: `lines`, `minilm`, `llamaindex`, `bm25_minilm`.
"""
