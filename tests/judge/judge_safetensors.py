#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow reference reader of safetensors, for the tests only.

Written from the description of what to accept and to reject, not from src/; the
JSON is read by Python's own reader.  It gives the verdict under the strict
profile or under that of the format's own loader, and the families of rules
(the first digit of an id: 1 container, 2 header syntax, 3 records and layout)
that have something to say.  Which of several faults decides is not told by the
format, only that unknown dtypes alone make a file unsupported.

usage: judge_safetensors.py FILE...
"""
import json
import struct
import sys
from collections import Counter, namedtuple

MAX64 = 2**64 - 1
BITS = {"BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "F16": 16,
        "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64,
        "F64": 64, "C64": 64, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F6_E2M3": 6, "F6_E3M2": 6,
        "F4": 4}
FIELDS = ("dtype", "shape", "data_offsets")

# families: those of every fault; empty for a valid file.
Answer = namedtuple("Answer", "verdict families tensors header")
Tensor = namedtuple("Tensor", "name dtype shape begin end fields")


class Bad(Exception):
    """Nothing can be said behind this."""

    def __init__(self, *families):
        super().__init__()
        self.families = set(families)


class Number(str):
    """As it is written."""


class Object(list):
    """Pairs of key and value, in file order, repeated keys and all."""


# --- JSON -------------------------------------------------------------------


def refuse(word):
    raise ValueError(word)


def within_f64(text):
    if float(text) in (float("inf"), float("-inf")):
        raise ValueError(text)
    return Number(text)


def read_json(text):
    try:
        return json.loads(text, object_pairs_hook=Object,
                          parse_int=within_f64, parse_float=within_f64,
                          parse_constant=refuse)
    except (ValueError, RecursionError):
        raise Bad(1, 2) from None


def walk(value, depth=0):
    """Every value within a value, with the number of containers around and
    including it."""
    stack = [(value, depth)]
    while stack:
        value, depth = stack.pop()
        inside = depth + isinstance(value, list)
        yield value, inside
        if isinstance(value, Object):
            for key, member in value:
                stack += [(key, inside), (member, inside)]
        elif isinstance(value, list):
            stack += [(member, inside) for member in value]


def size(value):
    """The number, or None if it is not an integer from 0 to 2^64 - 1."""
    if isinstance(value, Number) and value.isdigit() and int(value) <= MAX64:
        return int(value)
    return None


def is_text(value):
    return isinstance(value, str) and not isinstance(value, Number)


def is_array(value):
    return isinstance(value, list) and not isinstance(value, Object)


def keys(value):
    return [key for key, _ in value]


# --- the header -------------------------------------------------------------


def header_text(data):
    if len(data) < 8:
        raise Bad(1)
    length, = struct.unpack("<Q", data[:8])
    # What is longer than the file may be named a file of another kind.
    if length == 0 or length > len(data) - 8:
        raise Bad(1, 2)
    try:
        return data[8:8 + length].decode("utf-8"), data[8 + length:]
    except UnicodeDecodeError:
        raise Bad(1, 2) from None


class Header:
    """What the header says, and the families of its faults."""

    def __init__(self, text, reference):
        self.reference, self.families = reference, set()
        self.tensors, self.unknown = [], False
        root = read_json(text)
        if not isinstance(root, Object):
            raise Bad(1, 2)
        for value, depth in walk(root):
            self.want(depth <= (127 if reference else 8))
            self.want(not isinstance(value, str) or not any(
                "\ud800" <= char <= "\udfff" for char in value))
            if isinstance(value, Object) and not reference:
                self.want(len(set(keys(value))) == len(value))
        self.want(keys(root).count("__metadata__") <= 1)
        last = dict(root)
        for name, value in root:
            if name == "__metadata__":
                self.metadata(value)
            else:
                tensor = self.record(name, value)
                if tensor and last[name] is value:
                    self.tensors.append(tensor)

    def want(self, good, family=2):
        if not good:
            self.families.add(family)
        return good

    def metadata(self, value):
        if value is not None and self.want(isinstance(value, Object)):
            self.want(all(is_text(text) for _, text in value))

    def record(self, name, value):
        """A Tensor, or None if its fields are not of the right types."""
        if self.reference and is_array(value) and len(value) == 3:
            value = Object(zip(FIELDS, value))
        if not self.want(isinstance(value, Object)):
            return None
        count = Counter(keys(value))
        if not self.want(all(count[field] == 1 for field in FIELDS)):
            return None
        fields = dict(value)
        dtype, shape, offsets = (fields[field] for field in FIELDS)
        if self.reference and isinstance(dtype, Object) and \
                len(dtype) == 1 and dtype[0][1] is None:
            dtype = dtype[0][0]
        good = self.want(is_text(dtype) and dtype != "")
        good &= self.want(is_array(shape)
                          and None not in map(size, shape))
        good &= self.want(is_array(offsets) and len(offsets) == 2
                          and None not in map(size, offsets))
        if not good:
            return None
        self.unknown |= dtype not in BITS
        return Tensor(name, dtype, [size(d) for d in shape],
                      size(offsets[0]), size(offsets[1]), keys(value))


# --- sizes and ranges -------------------------------------------------------


def sized(tensor):
    """Whether shape and dtype make what the range holds."""
    product = 1
    for factor in tensor.shape:
        product *= factor
        if product > MAX64:
            return False
    if tensor.dtype not in BITS:
        return True
    bits = product * BITS[tensor.dtype]
    return bits <= MAX64 and bits == 8 * (tensor.end - tensor.begin)


def layout(header, length):
    at = 0
    for tensor in sorted(header.tensors, key=lambda t: (t.begin, t.end)):
        header.want(tensor.begin <= tensor.end, 3)
        header.want(sized(tensor), 3)
        header.want(tensor.begin == at, 3)
        header.want(tensor.end <= length, 1)
        at = tensor.end
    header.want(at == length, 1)


def judge(data, reference=False):
    try:
        text, payload = header_text(data)
        header = Header(text, reference)
    except Bad as bad:
        return Answer("invalid", bad.families, [], None)
    if not header.families:
        layout(header, len(payload))
    if header.families:
        return Answer("invalid", header.families, header.tensors, text)
    if header.unknown:
        return Answer("unsupported", {2}, header.tensors, text)
    return Answer("valid", set(), header.tensors, text)


def main(paths):
    if not paths:
        sys.exit(__doc__)
    for path in paths:
        with open(path, "rb") as f:
            data = f.read()
        print(path, judge(data).verdict, judge(data, True).verdict, sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
