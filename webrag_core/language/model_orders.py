"""Text that speaks to a language model instead of about its subject."""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|your|the)\b"
    r".{0,40}\b(?:instruction|prompt|rule|direction|context|message|guideline)s?\b"
    r"|\b(?:system|hidden|developer) prompt\b|\byou are (?:now|no longer) (?:a|an|the|in)\b"
    r"|\b(?:as|dear) (?:an? )?(?:ai|language model|assistant|chatbot)\b|\b(?:new|updated|important) instructions?:"
    r"|\b(?:reply|respond|answer) (?:only )?with\b.{0,40}\b(?:instead|exactly)\b|<\|[\w-]+\|>|\[/?INST\]"
    r"|\byour (?:answer|reply|response|message)s?\b"
    r"|\b(?:following|subsequent|below) code (?:snippet|block|excerpt|section|segment|fragment)\b.{0,60}\byour\b"
    r"|\byour (?:code|codebase|solution|implementation|algorithm)\b.{0,80}\b(?:following|subsequent|below) code\b"
    r"|\b(?:send|post|forward|upload|exfiltrate|fetch)\b.{0,60}"
    r"\b(?:password|api key|secret|token|credential|conversation|chat history)s?\b"
    r"|\bcall \w{2,40} \{\""
    r"|[A-Za-z0-9+/]{120,}={0,2}",
    re.IGNORECASE | re.DOTALL,
)


def is_order(text: str) -> bool:
    """Whether a text, without invisible characters, holds an order to a model."""
    return _ORDERS.search(text) is not None
