"""The tokens of a text are those of its pieces: as the tokenizer itself has them, for any text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webrag_core.providers import static_model
from webrag_core.providers.static_model import count_tokens, text_vectors, token_ids, token_texts

TEXTS = [
    "",
    " ",
    "\n",
    "  two  spaces, 3.11 and x² (see “this”)…",
    "code:\n\n    return asyncio.to_thread(f, *args)  # 100 %\r\n\tnext",
    "| a | b |\n|---|---|\n| `x|y` | https://site.example/a/b?c=1&d=%20#e |",
    "</s> is text, <s> too, and <unk>",
    "a\u2581b \u2581 c",
    "größer, naïve; 中文字和カナ, 한국어; हिन्दी, العربية 👩\u200d💻",
    "x" * 500 + " " * 300 + "=" * 200,
]


def whole(texts: list[str]) -> list[list[int]]:
    encodings = static_model._tokenizer().encode_batch_fast(texts, add_special_tokens=False)
    return [list(encoding.ids) for encoding in encodings]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_have_the_tokens_of_the_text(text: str) -> None:
    assert [list(ids) for ids in token_ids([text])] == whole([text])
    assert count_tokens([text]) == [len(whole([text])[0])]


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("abcXYZ éßñ中カ한абع 0129²½ .,;:/\\|-_*#`'\"“”’–…()[]{}<> \t\r\n\u00a0\u200b😀"))
)
def test_of_any_text(text: str) -> None:
    assert [list(ids) for ids in token_ids([text])] == whole([text])


def test_of_any_tokens_side_by_side() -> None:
    """Every token of the vocabulary stands beside others."""
    vocabulary = [token.replace("\u2581", " ") for token in token_texts()]
    random.Random(7).shuffle(vocabulary)
    texts = ["".join(vocabulary[first : first + 20]) for first in range(0, len(vocabulary), 20)]
    assert [list(ids) for ids in token_ids(texts)] == whole(texts)


def test_vectors_of_tokens_are_those_of_the_model() -> None:
    texts = [text for text in TEXTS if text]
    expected = static_model.static_model().embed(texts, norm=True)
    np.testing.assert_allclose(text_vectors(token_ids(texts)), expected, atol=1e-6)
