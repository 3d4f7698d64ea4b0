"""Clients of embedding models, rerankers and chat models, with one retry policy."""
