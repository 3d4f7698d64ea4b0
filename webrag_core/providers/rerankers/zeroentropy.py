"""Reranking by ZeroEntropy, through its SDK (alpha releases only).

Exercised against a local server that speaks the wire format; the real provider was never called.
"""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.extras import ZEROENTROPY, require_extra
from webrag_core.providers.endpoint import add_trace, key_or_dummy, trust_store
from webrag_core.providers.rerankers.remote import GARBAGE, PREFIX, UNREACHABLE, RemoteReranker, read_at_most, rows_of
from webrag_core.providers.retry import Failure
from webrag_core.store.breakers import Breakers


class ZeroEntropyReranker(RemoteReranker):
    """POST {base}/models/rerank."""

    name = "zeroentropy"
    package = "zeroentropy"
    base_url = "https://api.zeroentropy.dev/v1"
    model = "zerank-2"

    def __init__(self, settings: Settings, breakers: Breakers | None = None) -> None:
        """Raises InvalidInputError when the SDK is not installed."""
        require_extra(ZEROENTROPY, "RERANKER_PROVIDER=zeroentropy")
        super().__init__(settings, breakers)

    async def _ask(self, query: str, passages: list[str]) -> object:
        import zeroentropy

        try:
            async with zeroentropy.AsyncZeroEntropy(
                api_key=key_or_dummy(self._key),
                base_url=self._url,
                timeout=2 * self._seconds,  # ours comes first
                max_retries=0,
                http_client=zeroentropy.DefaultAsyncHttpxClient(
                    follow_redirects=False,
                    event_hooks={"request": [add_trace], "response": [read_at_most]},
                    verify=trust_store("httpx"),
                ),
            ) as client:
                answer: object = await client.models.rerank(
                    model=self._model,
                    query=query,
                    documents=passages,
                    latency="fast",  # else an exhausted quota answers after more than ten seconds
                )
        except zeroentropy.APIStatusError as error:
            return Failure.of_status(error.status_code, PREFIX)
        except zeroentropy.APIConnectionError:
            return UNREACHABLE
        except (zeroentropy.ZeroEntropyError, ValueError, AttributeError, TypeError, OverflowError):
            return GARBAGE  # no JSON, or JSON of another shape, on which the SDK stumbles
        self._count(getattr(answer, "total_tokens", None))
        return rows_of(answer)
