"""ONNX models as bytes: reading the weights of one, and writing another.

Only what `reading_graph` needs of the format (https://onnx.ai/onnx/repo-docs/IR.html; numbers of fields from its
onnx.proto), which is protobuf: a message is a row of fields, each a number, a kind and a value. The package `onnx`
would be 40 MB for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from webrag_core.errors import ReadingModelError

Tensor = NDArray[np.float32 | np.int8 | np.int64]

_IR_VERSION = 9
# those of TensorProto.DataType that are read
_TYPES: dict[int, np.dtype[np.float32 | np.int8 | np.int64]] = {
    1: np.dtype(np.float32),
    3: np.dtype(np.int8),
    7: np.dtype(np.int64),
}
_NUMBERS = {kind.str[1:]: number for number, kind in _TYPES.items()}
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def read_weights(model: bytes) -> dict[str, Tensor]:
    """The initializers of a model by name, of those with numbers as float32, int8 or int64 in one piece.

    Raises ReadingModelError for what is no such model.
    """
    weights = {}
    try:
        [graph] = (value for number, value in _fields(memoryview(model)) if number == 7)
        for number, value in _fields(_bytes(graph)):
            if number != 5:
                continue
            shape, kind, name, content = [], 0, "", memoryview(b"")
            for field, part in _fields(_bytes(value)):
                if field == 1 and isinstance(part, int):
                    shape.append(part)
                elif field == 2 and isinstance(part, int):
                    kind = part
                elif field == 8:
                    name = str(_bytes(part), "utf-8")
                elif field == 9:
                    content = _bytes(part)
            if kind in _TYPES:
                weights[name] = np.frombuffer(content, _TYPES[kind]).reshape(shape)
    except (ValueError, IndexError) as error:
        raise ReadingModelError(f"the reading model is no ONNX model: {error}") from error
    return weights


class GraphWriter:
    """A graph that is written node by node. Names of tensors are the caller's; each is written once before it is read.

    Operators are those of ONNX 18, and of ONNX Runtime where the domain says so.
    """

    CONTRIBUTED = "com.microsoft"
    """Domain of the operators of ONNX Runtime."""

    def __init__(self) -> None:
        self._graph: list[bytes | memoryview] = [
            _string(2, "graph")
        ]  # what is large is copied once, when all of it is joined

    def constant(self, name: str, values: Tensor) -> str:
        """A tensor of the graph itself; returns its name."""
        number = _NUMBERS[values.dtype.str[1:]]
        shape = b"".join(_number(1, size) for size in values.shape)
        content = np.ascontiguousarray(values)
        head = shape + _number(2, number) + _string(8, name) + _beginning(9, content.nbytes)
        self._graph += [_beginning(5, len(head) + content.nbytes), head, content.data]
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: str | Sequence[str],
        *,
        contributed: bool = False,
        **attributes: float,
    ) -> str:
        """An operator; "" is an input that is left out, a whole number an attribute of that type. Returns the first
        output."""
        names = [outputs] if isinstance(outputs, str) else outputs
        content = [_string(1, name) for name in inputs] + [_string(2, name) for name in names] + [_string(4, operator)]
        for name, value in attributes.items():
            if isinstance(value, int):
                content.append(_message(5, _string(1, name) + _number(3, value) + _number(20, 2)))
            else:
                packed = struct.pack("<Bf", 2 << 3 | _FIXED_32, value)
                content.append(_message(5, _string(1, name) + packed + _number(20, 1)))
        if contributed:
            content.append(_string(7, self.CONTRIBUTED))
        self._graph.append(_message(1, b"".join(content)))
        return names[0]

    def model(
        self, inputs: Mapping[str, tuple[type, Sequence[int | str]]], outputs: Mapping[str, Sequence[int | str]]
    ) -> bytes:
        """The model with these inputs (type and shape by name) and outputs (of float32; shape by name), in which a text
        stands for a size that is not fixed."""
        graph = [*self._graph]
        for name, (kind, shape) in inputs.items():
            graph.append(_message(11, _declared(name, np.dtype(kind), shape)))
        for name, shape in outputs.items():
            graph.append(_message(12, _declared(name, np.dtype(np.float32), shape)))
        operators = _message(8, _number(2, 18)) + _message(8, _string(1, self.CONTRIBUTED) + _number(2, 1))
        size = sum(memoryview(part).nbytes for part in graph)
        return b"".join([_number(1, _IR_VERSION), _beginning(7, size), *graph, operators])


def _declared(name: str, kind: np.dtype, shape: Sequence[int | str]) -> bytes:
    sizes = [_message(1, _string(2, size) if isinstance(size, str) else _number(1, size)) for size in shape]
    tensor = _number(1, _NUMBERS[kind.str[1:]]) + _message(2, b"".join(sizes))
    return _string(1, name) + _message(2, _message(1, tensor))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field. Raises ValueError and IndexError for what is no message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {_FIXED_64: 8, _FIXED_32: 4}.get(kind)
        if kind == _BYTES:
            size, at = _varint(message, at)
        if size is None or at + size > len(message):
            raise ValueError(f"a field of kind {kind} at {at} does not end")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number stands where a message should")
    return value


def _packed(value: int) -> bytes:
    packed = bytearray()
    value &= 2**64 - 1  # of a negative one its complement
    while value > 127:
        packed.append(value & 127 | 128)
        value >>= 7
    packed.append(value)
    return bytes(packed)


def _number(field: int, value: int) -> bytes:
    return _packed(field << 3 | _VARINT) + _packed(value)


def _message(field: int, content: bytes) -> bytes:
    return _beginning(field, len(content)) + content


def _beginning(field: int, size: int) -> bytes:
    """What stands before the `size` bytes of a message."""
    return _packed(field << 3 | _BYTES) + _packed(size)


def _string(field: int, text: str) -> bytes:
    return _message(field, text.encode())
