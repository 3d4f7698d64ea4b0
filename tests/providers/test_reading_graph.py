"""The reading model in whole numbers says what its file says, whatever the processor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from webrag_core.errors import ReadingModelError
from webrag_core.providers.onnx_format import read_weights
from webrag_core.providers.reading_graph import STATES, reading_graph, stored_parts
from webrag_core.providers.reading_model import model_file, multiplies_whole_numbers, session_of, window_inputs

TEXTS = (
    "The gate closes at nine in the evening, except on market days.",
    "Stir 200 g of flour into the milk; let it rest for 30 minutes.\n> Über Nacht ruhen lassen!",
    "x = {'a': 1}\nfor key, value in x.items():\n    print(key, value)  # every pair",
    "Prix : 12,50 € par mois, sans engagement. " * 30,
    "?",
)


def _units(states: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(states / np.linalg.norm(states, axis=1, keepdims=True))


def _states(model: bytes, texts: Sequence[str] = TEXTS) -> list[NDArray[np.float32]]:
    session = session_of(model)
    return [session.run([STATES], window_inputs(text))[0][0] for text in texts]


def test_with_real_numbers_it_is_the_model_of_the_file() -> None:
    session = session_of(model_file())
    for text, states in zip(TEXTS, _states(reading_graph(model_file(), None)), strict=True):
        ids = window_inputs(text)["ids"]
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (expected,) = session.run(["last_hidden_state"], inputs)
        assert np.abs(states - expected[0]).max() < 1e-3


def test_whole_numbers_hardly_change_a_token() -> None:
    if not multiplies_whole_numbers():
        pytest.skip("this processor has no products of whole numbers, and the reader does without")
    real = _states(reading_graph(model_file(), None))
    whole = _states(reading_graph(model_file(), stored_parts()))
    cosines = np.concatenate([np.sum(_units(a) * _units(b), axis=1) for a, b in zip(real, whole, strict=True)])
    assert cosines.mean() > 0.997
    assert cosines.min() > 0.98


def test_a_text_is_read_the_same_way_each_time() -> None:
    model = reading_graph(model_file(), stored_parts())
    assert model == reading_graph(model_file(), stored_parts())
    for first, second in zip(_states(model), _states(model), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x3a\xff", b"plain words, no model at all", b"\x3a\x02\x2a\x09"])
def test_what_is_no_model_is_refused(content: bytes) -> None:
    with pytest.raises(ReadingModelError):
        reading_graph(content, None)


def test_half_a_model_is_refused() -> None:
    content = model_file()
    with pytest.raises(ReadingModelError):
        reading_graph(content[: len(content) // 2], None)
    assert read_weights(content)["inner.embeddings.LayerNorm.weight"].shape == (384,)
