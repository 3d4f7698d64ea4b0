"""Reranking by Cohere, through its SDK.

Exercised against a local server that speaks the wire format; the real provider was never called.
"""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.extras import COHERE, require_extra
from webrag_core.providers.endpoint import add_trace, key_or_dummy, trust_store
from webrag_core.providers.rerankers.remote import GARBAGE, PREFIX, UNREACHABLE, RemoteReranker, read_at_most, rows_of
from webrag_core.providers.retry import Failure
from webrag_core.store.breakers import Breakers


class CohereReranker(RemoteReranker):
    """POST {base}/v2/rerank."""

    name = "cohere"
    package = "cohere"
    base_url = "https://api.cohere.com"
    model = "rerank-v3.5"

    def __init__(self, settings: Settings, breakers: Breakers | None = None) -> None:
        """Raises InvalidInputError when the SDK is not installed."""
        require_extra(COHERE, "RERANKER_PROVIDER=cohere")
        super().__init__(settings, breakers)

    async def _ask(self, query: str, passages: list[str]) -> object:
        import cohere
        import httpx  # the SDK lets this library's errors through
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        try:
            async with (
                httpx.AsyncClient(
                    timeout=2 * self._seconds,  # ours comes first
                    follow_redirects=False,
                    event_hooks={"request": [add_trace], "response": [read_at_most]},
                    verify=trust_store("httpx"),
                ) as wire,
                cohere.AsyncClientV2(
                    api_key=key_or_dummy(self._key), base_url=self._url, max_retries=0, httpx_client=wire
                ) as client,
            ):
                answer: object = await client.rerank(model=self._model, query=query, documents=passages)
        except ApiError as error:
            # an answer that is no JSON comes as an error, with the status it had
            if error.status_code is not None and error.status_code < 300:
                return GARBAGE
            return Failure.of_status(error.status_code, PREFIX)
        except httpx.HTTPError:
            return UNREACHABLE
        except (ParsingError, ValueError, AttributeError, TypeError):
            return GARBAGE
        self._count(0)  # a request is what it charges for
        return rows_of(answer)
