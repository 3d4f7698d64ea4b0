"""The request of an answer run: validation, and the effect of its options on passages and rerankers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from webrag_core.acquisition.urls import canonicalise, page_key
from webrag_core.config.reranking import RerankingSettings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.markdown import plain_text
from webrag_core.orchestration.models import QueryType
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.retrieval.models import RetrievalResult, RetrievedChunk
from webrag_core.retrieval.redundancy import text_overlap
from webrag_core.retrieval.request import Mode, check_query, check_text

KNOWN_SKIPPED = "passages that only repeat the known context were left out"
_MAX_CONTEXT_CHARS = 50_000  # every passage is compared with it

_INTENTS: dict[QueryType, str] = {
    "factual": "looking for a fact",
    "comparison": "looking for a comparison",
    "how_to": "looking for instructions",
    "exploratory": "looking for background",
}


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One question. Nothing is checked before `seeds` is called.

    `expansion_budget` is the maximum number of rounds that follow links: None = automatic, 0 = none; never above
    MAX_EXPANSION_DEPTH. `known_context` holds facts that the caller already has: passages that only repeat them are no
    evidence, and a model that analyses the question reads them. `policy` None = WEBRAG_POLICY. `max_age` is the age in
    seconds above which a stored page is fetched again (None = WEBRAG_MAX_AGE).

    `scope` says which stored pages are evidence without being fetched: none ("run"), those of the start pages' sources
    ("source"), all of them ("all"), or those of named sources. None = "source", in full-context mode "run". Pages in
    `excluded` (URLs) are neither fetched nor used. `seconds` limits the run below WEBRAG_ANSWER_TIMEOUT.
    """

    urls: tuple[str, ...]
    question: str
    intent: QueryType | None = None
    known_context: str | None = None
    constraints: tuple[str, ...] = ()
    expansion_budget: int | None = None
    mode: Mode = "auto"
    policy: str | None = None
    max_age: float | None = None
    scope: RunScope | tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    seconds: float | None = None

    def seeds(self) -> tuple[str, ...]:
        """Validate the request and return its canonical URLs, each once.

        Raises InvalidInputError, or FetchError(INVALID_URL) for a malformed URL.
        """
        if isinstance(self.urls, str) or not all(isinstance(url, str) for url in self.urls):
            raise InvalidInputError("urls must be a sequence of URLs")
        if not self.urls:
            raise InvalidInputError("no URL given")
        self._check_options()
        check_question(self.question)
        if self.known_context is not None:
            check_text(_text(self.known_context, "known context"), "known context")
            if len(self.known_context) > _MAX_CONTEXT_CHARS:
                raise InvalidInputError(
                    f"the known context has {len(self.known_context):,} characters; at most {_MAX_CONTEXT_CHARS:,}"
                )
        if isinstance(self.constraints, str):
            raise InvalidInputError("constraints must be a sequence of texts")
        for constraint in self.constraints:
            check_text(_text(constraint, "constraint"), "constraint")
        return tuple(dict.fromkeys(canonicalise(url) for url in self.urls))

    def _check_options(self) -> None:
        """Types and ranges: Python checks neither."""
        for name, value, allowed in (("mode", self.mode, get_args(Mode)), ("intent", self.intent, (*_INTENTS, None))):
            if value not in allowed:
                raise InvalidInputError(f"unknown {name} {value!r}; known: {', '.join(filter(None, allowed))}")
        budget = self.expansion_budget
        if budget is not None:
            if not isinstance(budget, int) or isinstance(budget, bool):
                raise InvalidInputError(f"the expansion budget must be a whole number, got {budget!r}")
            if budget < 0:
                raise InvalidInputError(f"the expansion budget cannot be negative, got {budget}")
        age = self.max_age
        if age is not None and (not isinstance(age, int | float) or not (age >= 0 and math.isfinite(age))):
            raise InvalidInputError(f"max_age must be a number of seconds of at least 0, got {age!r}")
        if self.policy is not None:
            _text(self.policy, "policy")
        if isinstance(self.scope, str) and self.scope not in get_args(RunScope):
            known = ", ".join(get_args(RunScope))
            raise InvalidInputError(f"unknown scope {self.scope!r}; known: {known}, or a sequence of source names")
        for name in () if isinstance(self.scope, str) else self.scope or ():
            check_text(_text(name, "source"), "source")
        self.excluded_pages()

    def stored_scope(self) -> RunScope | tuple[str, ...]:
        """`scope`, or its default: the whole text of a page is asked for alone, passages are not."""
        return self.scope or ("run" if self.mode == "full_context" else "source")

    def excluded_pages(self) -> frozenset[str]:
        """Page keys of the excluded URLs. Raises InvalidInputError, or FetchError(INVALID_URL)."""
        if isinstance(self.excluded, str):
            raise InvalidInputError("excluded must be a sequence of URLs")
        return frozenset(page_key(canonicalise(url)) for url in self.excluded)


def check_question(question: str) -> None:
    """Raise InvalidInputError for a question that is empty, too long, not valid text, or without a letter or digit."""
    check_query(_text(question, "question"))
    if not any(character.isalnum() for character in question):
        raise InvalidInputError("the question contains no word")


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"the {name} must be a text, got {type(value).__name__}")
    return value


def reranker_instruction(
    intent: QueryType | None, constraints: Sequence[str], settings: RerankingSettings
) -> str | None:
    """The instruction for the reranker: the constraints, and the intent for a reranker that follows instructions.

    The local reranker only matches words, and the words of an intent occur in no passage. None = no instruction.
    """
    follows = settings.reranker_provider not in ("local", "none")
    parts = [_INTENTS[intent]] if intent is not None and follows else []
    return "; ".join([*parts, *constraints]) or None


def without_known(
    results: Sequence[RetrievalResult], known_context: str | None, ceiling: float
) -> tuple[list[RetrievalResult], bool]:
    """The results without the passages that `known_passages` names, and whether there were any."""
    known = known_passages((chunk for result in results for chunk in result.chunks), known_context, ceiling)
    if not known:
        return list(results), False
    new_results = [
        result.model_copy(update={"chunks": [chunk for chunk in result.chunks if chunk.chunk_id not in known]})
        for result in results
    ]
    return new_results, True


def known_passages(chunks: Iterable[RetrievedChunk], known_context: str | None, ceiling: float) -> frozenset[int]:
    """Ids of the chunks of which `known_context` covers the share `ceiling` in [0, 1] or more (`text_overlap`; Markdown
    on either side does not count).

    Paraphrases are not recognised. Empty without a context.
    """
    if known_context is None:
        return frozenset()
    context = plain_text(known_context)
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}  # sub-queries return the same chunks
    shares = {chunk_id: text_overlap(plain_text(text), context) for chunk_id, text in texts.items()}
    return frozenset(chunk_id for chunk_id, share in shares.items() if share > 0 and share >= ceiling)
