"""Count which channels of the reading model hold large numbers; write the parts into which they are cut.

    python -m evals.fitting.reading_parts runs/keys-fitting.jsonl

The file is what `evals.answers.key_evidence` records of the sites that figures are not reported on: a few hundred of
its passages are read. For each input of a product the channel with the largest number is cut into one more part, as
often as the input has parts to give away. Prints how near the states of other passages come to those of real numbers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.answers.key_evidence import load_key_evidence
from webrag_core.indexing.markdown import plain_text
from webrag_core.providers.reading_graph import LAYERS, PARTS, STATES, reading_graph
from webrag_core.providers.reading_model import model_file, session_of, window_inputs

_MORE = {"hidden": 8, "between": 24, "wide": 24}
"""Parts to give away by kind of input. Twice and four times as many bring the states no nearer."""

_PASSAGES = 600
"""Of which every second is read for the parts, the others for what is printed."""


def passages(recorded: Path) -> list[str]:
    """Texts of passages, each once, spread over the questions of the file."""
    texts = dict.fromkeys(
        plain_text(ranked.chunk.text) for item in load_key_evidence(recorded) for ranked in item.gathered.ranked[:3]
    )
    return list(texts)[:: max(1, len(texts) // _PASSAGES)]


def largest(texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The largest number of each channel of each input, whatever its sign, among the tokens of these texts."""
    names = [f"{kind}{layer}" for layer in range(LAYERS) for kind in _MORE]
    session = session_of(reading_graph(model_file(), None, also=names))
    most: dict[str, NDArray[np.float32]] = {}
    for text in texts:
        for name, numbers in zip(names, session.run(names, window_inputs(text)), strict=True):
            peaks = np.abs(numbers[0]).max(axis=0)
            most[name] = np.maximum(most.get(name, peaks), peaks)
    return most


def parts_of(numbers: NDArray[np.float32], more: int) -> dict[str, int]:
    """Into how many parts each channel is cut (absent = 1) when `more` parts are given away."""
    parts = np.ones(len(numbers), dtype=np.int64)
    for _ in range(more):
        parts[np.argmax(numbers / parts)] += 1
    return {str(channel): int(parts[channel]) for channel in np.flatnonzero(parts > 1)}


def likeness(texts: Sequence[str], parts: dict[str, dict[str, int]]) -> Iterator[float]:
    """The cosine of each token's states, with products of whole numbers and of real ones."""
    whole, real = (session_of(reading_graph(model_file(), cut)) for cut in (parts, None))
    for text in texts:
        states = [session.run([STATES], window_inputs(text))[0][0] for session in (whole, real)]
        units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in states]
        yield from np.sum(units[0] * units[1], axis=1).tolist()


def main() -> None:
    """Write the parts and print the likeness, without parts and with them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=Path)
    texts = passages(parser.parse_args().recorded)
    numbers = largest(texts[::2])
    parts = {name: parts_of(cosines, _MORE[name.rstrip("0123456789")]) for name, cosines in numbers.items()}
    PARTS.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
    for name, cut in (("without parts", {}), ("with parts", parts)):
        cosines = np.array(list(likeness(texts[1::2], cut)))
        print(f"{name}: {len(cosines)} tokens, cosine {cosines.mean():.4f}, least {cosines.min():.4f}")


if __name__ == "__main__":
    main()
