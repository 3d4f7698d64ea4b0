"""Reranking by Jina, and by the many servers that imitate its endpoint (vLLM, LocalAI, gateways), over plain HTTP.

Written from the public documentation and exercised against a local server that speaks that format; the real provider
was never called.
"""

from __future__ import annotations

from typing import Any

from webrag_core.providers.endpoint import add_trace, trust_store
from webrag_core.providers.rerankers.remote import GARBAGE, PREFIX, UNREACHABLE, RemoteReranker, read_at_most, rows_of
from webrag_core.providers.retry import Failure


class JinaReranker(RemoteReranker):
    """POST {base}/rerank; a base URL that ends in /rerank is taken as it is."""

    name = "jina"
    base_url = "https://api.jina.ai/v1"
    model = "jina-reranker-v2-base-multilingual"

    async def _ask(self, query: str, passages: list[str]) -> object:
        import httpx2

        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key.get_secret_value()}"}
        body = {
            "model": self._model,
            "query": query,
            "documents": passages,
            "top_n": len(passages),
            "return_documents": False,
        }
        try:
            # the caller's time budget comes before the client's
            hooks: dict[str, list[Any]] = {"request": [add_trace], "response": [read_at_most]}
            async with httpx2.AsyncClient(
                timeout=2 * self._seconds, follow_redirects=False, event_hooks=hooks, verify=trust_store("httpx2")
            ) as client:
                answer = await client.post(f"{self._url.removesuffix('/rerank')}/rerank", headers=headers, json=body)
            if answer.status_code != 200:
                return Failure.of_status(answer.status_code, PREFIX)
            content = answer.json()
        except httpx2.HTTPError:
            return UNREACHABLE
        except ValueError:
            return GARBAGE
        usage = content.get("usage") if isinstance(content, dict) else None
        self._count(usage.get("total_tokens") if isinstance(usage, dict) else None)
        return rows_of(content)
