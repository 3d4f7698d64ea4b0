"""The graph of the reading model, in whole numbers: its weights are int8, and so are its products.

The file of the model makes its weights real numbers first and multiplies those. A processor with instructions for
products of whole numbers needs a third of the time: each layer's input is rounded to 256 steps (`DynamicQuantizeMatMul`
of ONNX Runtime). The steps of a text are as wide as its largest number asks, and a few channels of the model hold
numbers ten times as large as the others do. Those are cut into equal parts (`reading_parts.json`, made by `python -m
evals.fitting.reading_parts`), each with the weights of the whole: the sum is the same, and the steps are narrow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webrag_core.errors import ReadingModelError
from webrag_core.providers.onnx_format import GraphWriter, Tensor, read_weights

STATES = "states"
"""The output: states of the last layer, shape (1, tokens, 384). The inputs are `ids`, (1, tokens), and `positions`."""

PARTS = Path(__file__).with_name("reading_parts.json")
LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12  # of a norm, as the model was trained
_ROOT = "inner."
_TIMES = 64  # of a product of the largest numbers: enough for every width of an instruction

Parts = Mapping[str, Mapping[str, int]]
"""By the name of an input of a product, into how many parts a channel of it is cut (absent = 1)."""


@lru_cache(maxsize=1)
def stored_parts() -> Parts:
    """The parts that ship."""
    parts: Parts = json.loads(PARTS.read_text(encoding="utf-8"))
    return parts


def reading_graph(model: bytes, parts: Parts | None, also: Sequence[str] = ()) -> bytes:
    """The model of `model`, the file of `reading_model`, with products of whole numbers, channels cut into `parts`;
    None = with products of real numbers. `also` names inputs of products that are outputs as well: `hidden0` and on,
    `attended0`, `between0`, `wide0`.

    Raises ReadingModelError for another model.
    """
    weights = read_weights(model)
    try:
        writer = _Bert(weights, parts)
        writer.write()
    except (KeyError, IndexError) as error:
        raise ReadingModelError(f"the reading model has no {error}") from error
    shape = (1, "tokens", 384)
    inputs = {"ids": (np.int64, (1, "tokens")), "positions": (np.int64, ("tokens",))}
    return writer.graph.model(inputs, {STATES: shape, **{name: (1, "tokens", writer.widths[name]) for name in also}})


def largest_product() -> tuple[bytes, float]:
    """A model with one product of the largest whole numbers there are, and what it is, for an input of ones of shape
    (1, 64): processors without instructions for it stop at 16 bits between, and give less."""
    graph = GraphWriter()
    weights = graph.constant("weights", np.full((_TIMES, 1), 127, np.int8))
    scale = graph.constant("scale", np.ones(1, np.float32))
    graph.node("DynamicQuantizeMatMul", ["ones", weights, scale], "product", contributed=True)
    return graph.model({"ones": (np.float32, (1, _TIMES))}, {"product": (1, 1)}), 127.0 * _TIMES


class _Bert:
    """BERT's encoder (Devlin et al. 2019) by the weights of the file. `widths` is the last size of each tensor."""

    def __init__(self, weights: Mapping[str, Tensor], parts: Parts | None) -> None:
        self.graph = GraphWriter()
        self.widths: dict[str, int] = {}
        self._weights = weights
        self._parts = parts
        # products are named by number, in the order of the layers: query, key, value, attended, between, wide
        numbers = sorted(int(name[4:-2]) for name in weights if name.startswith("val_") and name.endswith("_q"))
        self._products = [f"val_{number}" for number in numbers]

    def write(self) -> None:
        """All nodes, from `ids` and `positions` to `STATES`."""
        graph = self.graph
        hidden = self._norm(self._embedded(), "embeddings.LayerNorm", "hidden0")
        for layer in range(LAYERS):
            query, key, value, attended, between, wide = self._products[6 * layer : 6 * layer + 6]
            prefix = f"encoder.layer.{layer}."
            biases = [f"{prefix}attention.self.{name}.bias" for name in ("query", "key", "value")]
            all_three = self._product(hidden, [query, key, value], biases, f"all{layer}")
            heads = [f"{name}{layer}" for name in ("query", "key", "value")]
            graph.node("Split", [all_three], heads, axis=-1, num_outputs=3)
            graph.node("MultiHeadAttention", heads, f"attended{layer}", contributed=True, num_heads=_HEADS)
            self.widths[f"attended{layer}"] = self.widths[hidden]
            output = f"{prefix}attention.output."
            attention = self._product(f"attended{layer}", [attended], [f"{output}dense.bias"], f"seen{layer}")
            graph.node("Add", [attention, hidden], f"seen_beside{layer}")
            middle = self._norm(f"seen_beside{layer}", f"{output}LayerNorm", f"between{layer}")
            widened = self._product(middle, [between], [f"{prefix}intermediate.dense.bias"], f"widened{layer}")
            graph.node("Gelu", [widened], f"wide{layer}", contributed=True)
            self.widths[f"wide{layer}"] = self.widths[widened]
            narrowed = self._product(f"wide{layer}", [wide], [f"{prefix}output.dense.bias"], f"narrowed{layer}")
            graph.node("Add", [narrowed, middle], f"narrowed_beside{layer}")
            is_last = layer == LAYERS - 1
            name = STATES if is_last else f"hidden{layer + 1}"
            hidden = self._norm(f"narrowed_beside{layer}", f"{prefix}output.LayerNorm", name)

    def _embedded(self) -> str:
        """Words, as whole numbers until they are chosen, and their places."""
        graph, place = self.graph, "embeddings.position_embeddings.weight"
        words = graph.constant("words", self._weight("embeddings.word_embeddings.weight_q"))
        scales = graph.constant("word_scales", self._weight("embeddings.word_embeddings.weight_scale"))
        places = self._weight(f"{place}_q").astype(np.float32) * self._weight(f"{place}_scale")
        places = places + self._weight("embeddings.token_type_embeddings.weight")[0]
        graph.constant("places", np.asarray(places, np.float32))
        graph.node("Gather", [words, "ids"], "chosen_words")
        graph.node("Cast", ["chosen_words"], "word_numbers", to=1)
        graph.node("Gather", [scales, "ids"], "chosen_scales")
        graph.node("Mul", ["word_numbers", "chosen_scales"], "word_vectors")
        graph.node("Gather", ["places", "positions"], "place_vectors")
        return graph.node("Add", ["word_vectors", "place_vectors"], "embedded")

    def _norm(self, name: str, weight: str, output: str) -> str:
        scale = self.graph.constant(f"{output}_scale", self._weight(f"{weight}.weight"))
        shift = self.graph.constant(f"{output}_shift", self._weight(f"{weight}.bias"))
        self.widths[output] = len(self._weight(f"{weight}.weight"))
        return self.graph.node("LayerNormalization", [name, scale, shift], output, axis=-1, epsilon=_EPSILON)

    def _product(self, name: str, products: Sequence[str], biases: Sequence[str], output: str) -> str:
        """The product of `name` with all of these weights, side by side, plus their biases."""
        weights = np.concatenate([self._weights[f"{product}_q"] for product in products], axis=1)
        scales = np.concatenate([self._weights[f"{product}_scale"].reshape(-1) for product in products])
        bias = self.graph.constant(f"{output}_bias", np.concatenate([self._weight(bias) for bias in biases]))
        self.widths[output] = weights.shape[1]
        if self._parts is None:
            real = self.graph.constant(f"{output}_weights", np.asarray(weights * scales, np.float32))
            self.graph.node("MatMul", [name, real], f"{output}_unbiased")
            return self.graph.node("Add", [f"{output}_unbiased", bias], output)
        parts = {int(channel): number for channel, number in self._parts.get(name, {}).items()}
        cut, weights = self._cut(name, weights, parts) if parts else (name, weights)
        whole = self.graph.constant(f"{output}_weights", weights)
        scale = self.graph.constant(f"{output}_scales", scales)
        return self.graph.node("DynamicQuantizeMatMul", [cut, whole, scale, "", bias], output, contributed=True)

    def _cut(self, name: str, weights: NDArray[np.int8], parts: Mapping[int, int]) -> tuple[str, NDArray[np.int8]]:
        """The input with its large channels in parts, and the weights with a row for each part."""
        share = np.ones(len(weights), np.float32)
        share[list(parts)] = [1 / number for number in parts.values()]
        more = np.repeat(list(parts), [number - 1 for number in parts.values()]).astype(np.int64)
        inside = self.graph.node("Mul", [name, self.graph.constant(f"{name}_share", share)], f"{name}_part")
        again = self.graph.constant(f"{name}_more", more)
        self.graph.node("Gather", [inside, again], f"{name}_further", axis=-1)
        cut = self.graph.node("Concat", [inside, f"{name}_further"], f"{name}_cut", axis=-1)
        return cut, np.concatenate([weights, weights[more]])

    def _weight(self, name: str) -> Tensor:
        return self._weights[_ROOT + name]
