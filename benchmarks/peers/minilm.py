"""all-MiniLM-L6-v2 for the peers: the model file and vocabulary that WebRAG reads passages with, used in the same way.

A text is run by itself on one thread, and its vector is the mean of the states of its first 256 tokens, at unit length,
so that the model costs every system the same for the same text, and means the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import BertWordPieceTokenizer

DIMENSIONS = 384
_MOST_TOKENS = 256


class MiniLM:
    """The model, from its two files."""

    def __init__(self, model: Path, vocabulary: Path) -> None:
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(_MOST_TOKENS)

    def vector(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, shape (384,)."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(["last_hidden_state"], inputs)
        mean = np.asarray(hidden, dtype=np.float32)[0].mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32)
