"""The tokens of a text are those of its pieces: as the tokenizer itself has them, for any text."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from webrag_core.providers import static_model
from webrag_core.providers.static_model import count_tokens, known_letters, text_vectors, token_ids, token_texts

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


def test_vectors_and_tokens_are_those_that_stored_ones_were_made_with() -> None:
    """As wordllama 0.4.0 has them; another release of it that differed would need another identity of the model."""
    vectors = hashlib.sha256(static_model._model_rows().all().tobytes()).hexdigest()
    assert vectors == "c2c596675fd628bc84ebcc83b57010c7e4feffae51781c8ff814052cc65018b2"
    tokens = hashlib.sha256(b"|".join(ids.tobytes() for ids in token_ids(TEXTS))).hexdigest()
    assert tokens == "08936eb8a4702081aa5e691d3ebcf5a0edeb6c273e9f6dc2385d9c8bc00d4f22"


def test_rows_are_made_when_they_are_asked_for() -> None:
    whole_table, asked = static_model.token_vectors(), []

    def make(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        asked.append(ids.tolist())
        return whole_table[ids]

    rows = static_model._Rows(make)
    for ids in ([7, 3, 7], [3, 31_999], [7]):
        assert (rows.with_rows(np.array(ids))[ids] == whole_table[ids]).all()
    assert asked == [[3, 7], [31_999]]
    assert rows.all().tobytes() == whole_table.tobytes()


def test_the_vector_of_a_text_is_the_mean_of_its_tokens_at_unit_length() -> None:
    (vector,) = text_vectors(token_ids([TEXTS[3]]))
    np.testing.assert_allclose(vector[:4], [-0.02034, -0.00134, 0.0448, 0.03105], atol=6e-6)
    assert np.linalg.norm(vector) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "share"), [("", 1.0), ("123", 1.0), ("the house", 1.0), ("zq zq", 0.0), ("\U0001f600", 1.0)]
)
def test_letters_of_known_words_stand_in_long_tokens(text: str, share: float) -> None:
    assert known_letters(text) == share
