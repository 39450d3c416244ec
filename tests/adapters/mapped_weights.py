"""
How `mapped.onnx` of the shipped model is made: it says that its weights are in `model.onnx`.

onnxruntime reads a model of one file into the memory of each process, but maps weights that a model says are
in another file. The form of such files: https://protobuf.dev/programming-guides/encoding and onnx.proto of
https://github.com/onnx/onnx.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LEAST = 65_536  # bytes of a weight that is mapped; the others are few
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # how a field is written, and the bytes of those of fixed length
_FIXED = {_EIGHT: 8, _FOUR: 4}
_GRAPH = 7  # fields: of ModelProto
_INITIALIZER = 5  # of GraphProto
_TYPE, _RAW, _EXTERNAL, _LOCATION = 2, 9, 13, 14  # of TensorProto
_IN_A_FILE = 1  # TensorProto.DataLocation.EXTERNAL
_OF_ONE_BYTE = (2, 3)  # TensorProto.DataType: UINT8, INT8. Wider numbers seldom lie as a processor wants them


class _Field(NamedTuple):
    """A field of a message, from *start* to *end*; what it holds begins at *content*."""

    number: int
    form: int
    start: int
    content: int
    end: int


def without_weights(path: Path) -> bytes:
    """
    Return the model in the ONNX file at *path*, with its large weights of one byte said to be in that file.

    Raises ValueError when it is no ONNX file.
    """
    with open(path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        graphs = [field for field in _fields(data, 0, len(data)) if field[:2] == (_GRAPH, _BYTES)]
        moved = {
            weight.start: weight.end - weight.content for graph in graphs for weight in _weights(data, graph)
        }
        return _without(data, 0, len(data), (_GRAPH, _INITIALIZER), moved, path.name)


def _weights(data: mmap.mmap, graph: _Field) -> Iterator[_Field]:
    """Yield the large weights of one byte in *graph*."""
    for tensor in _fields(data, graph.content, graph.end):
        if tensor[:2] != (_INITIALIZER, _BYTES):
            continue
        fields = list(_fields(data, tensor.content, tensor.end))
        types = [_varint(data, field.content, field.end)[0] for field in fields if field.number == _TYPE]
        if types and types[-1] in _OF_ONE_BYTE:
            for field in fields:
                if field[:2] == (_RAW, _BYTES) and field.end - field.content >= LEAST:
                    yield field


def _without(
    data: mmap.mmap, start: int, end: int, inside: tuple[int, ...], moved: dict[int, int], name: str
) -> bytes:
    """Return the message from *start* to *end*; the weights are in the fields that *inside* leads to."""
    fields = []
    for field in _fields(data, start, end):
        if inside and field[:2] == (inside[0], _BYTES):
            content = _without(data, field.content, field.end, inside[1:], moved, name)
            fields.append(_put(field.number, content))
        elif not inside and field.start in moved:
            place = {"location": name, "offset": field.content, "length": moved[field.start]}
            fields += [
                _put(_EXTERNAL, _put(1, key.encode()) + _put(2, str(value).encode()))
                for key, value in place.items()
            ]
            fields.append(_number(_LOCATION << 3 | _VARINT) + _number(_IN_A_FILE))
        else:
            fields.append(data[field.start : field.end])
    return b"".join(fields)


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[_Field]:
    """Yield the fields of the message from *start* to *end*."""
    while start < end:
        key, content = _varint(data, start, end)
        number, form = key >> 3, key & 7
        if form == _BYTES:
            size, content = _varint(data, content, end)
            after = content + size
        elif form == _VARINT:
            _, after = _varint(data, content, end)
        elif form in _FIXED:
            after = content + _FIXED[form]
        else:
            number = after = 0
        if not number:
            raise ValueError("the model is no ONNX file")
        if after > end:
            raise ValueError("the model's file ends too early")
        yield _Field(number, form, start, content, after)
        start = after


def _varint(data: mmap.mmap, start: int, end: int) -> tuple[int, int]:
    """Return the number at *start* and where it ends: seven bits a byte, the lowest first."""
    value = 0
    for at in range(start, min(end, start + 10)):
        value |= (data[at] & 0x7F) << 7 * (at - start)
        if data[at] < 0x80:
            return value, at + 1
    raise ValueError("the model is no ONNX file")


def _number(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _put(number: int, content: bytes) -> bytes:
    return _number(number << 3 | _BYTES) + _number(len(content)) + content
