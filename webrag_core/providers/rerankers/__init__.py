"""Rerankers behind paid or self-hosted endpoints."""
