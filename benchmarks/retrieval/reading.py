"""Windows that the reading model reads per second of processor time: in whole numbers, in real ones, by its own graph.

Windows are pieces of the demo site of as many tokens as each row says; each graph reads all of them by turns, on one
core. `cosine`, mean and least, is that of the tokens' states with those of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession

from benchmarks.retrieval.vector_data import read_pages
from evals.walks.suites import DEMO_SITE
from webrag_core.config import load_settings
from webrag_core.indexing.markdown import plain_text
from webrag_core.providers.reading_graph import STATES, reading_graph, stored_parts
from webrag_core.providers.reading_model import model_file, one_core, session_of, window_inputs

_WINDOWS = 40
_ROUNDS = 5
_MOST_CHARACTERS = 2_000  # of a window, before it is cut to its tokens

Inputs = dict[str, NDArray[np.int64]]


def windows(tokens: int) -> list[Inputs]:
    """Windows of that many tokens, with start mark and without end mark."""
    texts = [plain_text(page.markdown) for page in read_pages([DEMO_SITE], load_settings())]
    pieces = [text[at : at + _MOST_CHARACTERS] for text in texts for at in range(0, len(text), _MOST_CHARACTERS)]
    inputs = [window_inputs(piece) for piece in pieces]
    long = [each for each in inputs if each["ids"].shape[1] >= tokens]
    return [{"ids": each["ids"][:, :tokens], "positions": each["positions"][:tokens]} for each in long[:_WINDOWS]]


def measure(tokens: int) -> dict[str, object]:
    """Windows per second of processor time by graph, the median of rounds, and how alike the states are."""
    content = model_file()
    # the file as it was run before: with every optimiser of the runtime
    graphs = {
        "whole": (session_of(reading_graph(content, stored_parts())), STATES),
        "real": (session_of(reading_graph(content, None)), STATES),
        "file": (InferenceSession(content, one_core(), providers=["CPUExecutionProvider"]), "last_hidden_state"),
    }
    inputs = windows(tokens)
    seconds, states = defaultdict(list), {}
    for _ in range(_ROUNDS):
        for name, (session, output) in graphs.items():
            batch = [_of_file(each) if name == "file" else each for each in inputs]
            started = time.process_time()
            states[name] = np.concatenate([session.run([output], each)[0][0] for each in batch])
            seconds[name].append(time.process_time() - started)
    units = {name: rows / np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in states.items()}
    likeness = {name: np.sum(rows * units["file"], axis=1) for name, rows in units.items()}
    return {
        "tokens": tokens,
        "windows": len(inputs),
        "load": round(os.getloadavg()[0], 1),
        "windows_per_cpu_s": {name: round(len(inputs) / float(np.median(spent)), 1) for name, spent in seconds.items()},
        "cosine": {
            name: [round(float(rows.mean()), 4), round(float(rows.min()), 4)] for name, rows in likeness.items()
        },
    }


def _of_file(inputs: Inputs) -> Inputs:
    ids = inputs["ids"]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def main() -> None:
    """Print one JSON object a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 144, 251])
    for tokens in parser.parse_args().tokens:
        print(json.dumps(measure(tokens)))


if __name__ == "__main__":
    main()
