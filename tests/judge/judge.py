#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow reference reader of LLMCP35 version 1, for the tests only.

Written from the description of the format and of its loader's checks, not from
src/: it holds the whole file in memory, makes one check after the other in the
order of the format's own loader and stops at the first that fails.  What it
says (verdict, kind of error, name of the check, index of the record at fault
where there is one) is what ckverify's primary finding must say, although
ckverify meets the faults in another order.

usage: judge.py FILE...
"""
import array
import functools
import math
import re
import struct
import sys
from collections import namedtuple

MAX64 = 2**64 - 1
ROPE_LIMIT = (2**63 - 1) // 8
MOST_MERGES = 4294967038

Answer = namedtuple("Answer", "verdict kind check record")
VALID = Answer("valid", None, None, None)
Record = namedtuple("Record", "index role name dtype dims offset length")

LITERAL, BPE, PARAMETER, FIRST, SECOND = 1, 2, 3, 4, 5
WIDTHS = {1: 1, 2: 4, 3: 8}
U8, U32, F64 = 1, 2, 3


class Stop(Exception):
    """The first check that fails."""

    def __init__(self, check, kind, record=None, verdict="invalid"):
        super().__init__(check)
        self.answer = Answer(verdict, kind, check, record)


def need(good, check, kind, record=None, verdict="invalid"):
    if not good:
        raise Stop(check, kind, record, verdict)


def fnv1a(data):
    """FNV-1a 64 of the file with the eight bytes of the checksum as zero."""
    return plain_fnv1a(data[:30] + bytes(8) + data[38:])


@functools.lru_cache(maxsize=4)  # who makes a file right has just asked
def plain_fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


# --- A: the whole file ------------------------------------------------------


def fixed_header(data):
    """Returns header_bytes."""
    need(len(data) >= 38, "A1", "Truncated")
    magic, version, endian, header, payload, checksum = struct.unpack(
        "<8sH4sQQQ", data[:38])
    need(magic == b"LLMCP35\0", "A2", "InvalidMagic")
    need(version == 1, "A3", "UnsupportedVersion",
         verdict="unsupported")
    need(endian == b"\4\3\2\1", "A4", "UnsupportedEndianness",
         verdict="unsupported" if endian == b"\1\2\3\4" else "invalid")
    need(header >= 38 and header + payload <= MAX64
         and header + payload == len(data), "A5", "FileExtent")
    need(checksum == fnv1a(data), "A6", "ChecksumMismatch")
    return header


# --- B: the variable header, in field order ---------------------------------


class Cursor:
    """Reads the bytes 38..header_bytes; nothing is read past their end."""

    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def take(self, n):
        need(n <= self.end - self.at, "B", "Truncated")
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return struct.unpack("<H", self.take(2))[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def string(self, check, record=None):
        text = self.take(self.u32())
        try:
            text.decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Stop(check, "InvalidUtf8", record) from None
        return text


class Header:
    """The variable header under the names of the format."""

    def __init__(self, data, end):
        c = Cursor(data, 38, end)
        need(c.u16() == 1, "B1", "UnsupportedTokenizerLayout",
             verdict="unsupported")
        need(c.u16() == 1, "B2", "UnsupportedRngAlgorithm",
             verdict="unsupported")
        self.selected_step = c.u64()
        c.u64()  # the state of the sampling RNG may be anything
        self.kind = c.u8()
        need(self.kind in (LITERAL, BPE), "B3", "UnknownTokenizerKind")
        self.tokenizer_vocabulary = c.u64()
        self.vocabulary = c.u64()
        self.width = c.u64()
        self.heads = c.u64()
        self.feed_forward = c.u64()
        self.layers = c.u64()
        self.positions = c.u64()
        self.rope_base = c.f64()
        self.rms_epsilon = c.f64()
        adamw_config(c.f64(), c.f64(), c.f64(), c.f64(), c.f64())
        flag = c.u8()
        need(flag in (0, 1), "B5", "NonCanonical")
        self.groups = None
        if flag:
            self.groups = [self.names(c), self.names(c)]
            parameter_groups(*self.groups)
        self.step = c.u64()
        self.power1_bits, self.power2_bits = c.u64(), c.u64()
        self.parameters = c.u32()
        self.optimizer = c.u32()
        self.records = []
        for index in range(c.u32()):
            self.records.append(descriptor(c, index))
        need(c.at == end, "B10", "NonCanonical")

    @staticmethod
    def names(c):
        names = []
        for _ in range(c.u32()):
            names.append(c.string("B6"))
        return names


def adamw_config(rate, beta1, beta2, epsilon, decay):
    def legal(good):
        need(good, "B4", "AdamW")

    legal(math.isfinite(rate) and rate > 0)
    legal(math.isfinite(beta1) and 0 <= beta1 < 1)
    legal(math.isfinite(beta2) and 0 <= beta2 < 1)
    legal(math.isfinite(epsilon) and epsilon > 0)
    legal(math.isfinite(decay) and decay >= 0)
    if decay != 0:
        product = rate * decay
        legal(math.isfinite(product) and 0 < product < 1)


def parameter_groups(decay, no_decay):
    def legal(good):
        need(good, "B6", "AdamW")

    for names in (decay, no_decay):
        legal(b"" not in names)
        legal(len(set(names)) == len(names))
    legal(decay or no_decay)
    legal(not set(decay) & set(no_decay))


def descriptor(c, index):
    role = c.u8()
    need(role in (LITERAL, BPE, PARAMETER, FIRST, SECOND), "B7",
         "UnknownTensorRole", index)
    name = c.string("B8", index)
    need(name, "B8", "Layout", index)
    dtype = c.u8()
    need(dtype in WIDTHS, "B9", "UnknownDType", index)
    dims = []
    for _ in range(c.u32()):
        dims.append(c.u64())
    return Record(index, role, name, dtype, dims, c.u64(), c.u64())


# --- C: the descriptor table ------------------------------------------------


def table(h, header_bytes, size):
    seen = set()
    running = header_bytes
    for r in h.records:
        need((r.role, r.name) not in seen, "C1", "Layout", r.index)
        seen.add((r.role, r.name))
        product = 1
        for factor in r.dims + [WIDTHS[r.dtype]]:
            product *= factor
            need(product <= MAX64, "C2", "SizeOverflow", r.index)
        need(r.length == product, "C3", "Layout", r.index)
        need(r.offset == running, "C4", "Layout", r.index)
        running += r.length
        need(running <= MAX64, "C5", "Layout", r.index)
    need(running == size, "C6", "Layout")
    models_end = tokenizer_records(h) + h.parameters
    need(models_end <= MAX64, "C7", "SizeOverflow")
    moments_end = models_end + 2 * h.optimizer
    need(moments_end <= MAX64, "C7", "SizeOverflow")
    need(moments_end == len(h.records), "C7", "Layout")


def tokenizer_records(h):
    return h.tokenizer_vocabulary if h.kind == LITERAL else 1


# --- D: the tokenizer -------------------------------------------------------


def payload(data, r):
    return data[r.offset:r.offset + r.length]


def tokenizer(data, h, records):
    """Returns the size of the vocabulary."""
    size = (literal if h.kind == LITERAL else byte_bpe)(data, records)
    need(size == h.tokenizer_vocabulary, "D7", "VocabularyMismatch")
    return size


def literal(data, records):
    for token, r in enumerate(records):
        need((r.role, r.dtype, r.name) == (LITERAL, U8, b"%d" % token), "D1",
             "Layout", token)
        need(len(r.dims) == 1 and r.dims[0] >= 1, "D2", "Layout", token)
    need(records, "D3", "Tokenizer")
    seen = set()
    for token, r in enumerate(records):
        piece = payload(data, r)
        need(piece not in seen, "D3", "Tokenizer", token)
        seen.add(piece)
    return len(records)


def byte_bpe(data, records):
    r = records[0]
    need((r.role, r.dtype, r.name) == (BPE, U32, b"training-pairs"), "D4",
         "Layout", 0)
    need(len(r.dims) == 2 and r.dims[1] == 2, "D5", "Layout", 0)
    need(r.dims[0] <= MOST_MERGES, "D6", "Bpe", 0)
    seen = set()
    pairs = struct.iter_unpack("<II", payload(data, r))
    for rank, (left, right) in enumerate(pairs):
        need(left < 256 + rank and right < 256 + rank, "D6", "Bpe", 0)
        need((left, right) not in seen, "D6", "Bpe", 0)
        seen.add((left, right))
    return 258 + r.dims[0]


# --- E: the model -----------------------------------------------------------


def reals(data, r):
    values = array.array("d", payload(data, r))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def finite(values):
    return all(map(math.isfinite, values))


def model(data, h, records):
    need(records, "E1", "Layout")
    for r in records:
        need((r.role, r.dtype) == (PARAMETER, F64), "E2", "Layout", r.index)
        product = 1
        for extent in reversed(r.dims):
            product *= extent
            need(product <= MAX64, "E3", "Tensor", r.index)
        need(re.fullmatch(rb"[a-z0-9_]+(\.[a-z0-9_]+)*", r.name), "E4",
             "Initialization", r.index)
        need(finite(reals(data, r)), "E5", "Initialization", r.index)
    decoder_config(h)
    parameter_layout(h, records)


def decoder_config(h):
    def legal(good):
        need(good, "6.1", "Model")

    legal(h.vocabulary > 0)
    legal(h.width > 0)
    legal(h.heads > 0)
    legal(h.width % h.heads == 0)
    legal(h.width // h.heads % 2 == 0)
    legal(h.feed_forward > 0)
    legal(h.positions > 0)
    legal(math.isfinite(h.rope_base) and h.rope_base > 0)
    legal(math.isfinite(h.rms_epsilon) and h.rms_epsilon >= 0)


LEAVES = ("attention_norm.gain", "attention.query.weight",
          "attention.key.weight", "attention.value.weight",
          "attention.output.weight", "ffn_norm.gain", "ffn.gate.weight",
          "ffn.up.weight", "ffn.down.weight")


def legal_model(good):
    need(good, "6.6", "Model")


def parameter_layout(h, records):
    legal_model(9 * h.layers + 2 <= MAX64)
    legal_model(len(records) == 9 * h.layers + 2)
    names = ["token_embedding.weight"]
    for layer in range(h.layers):
        names += ["blocks.%d.%s" % (layer, leaf) for leaf in LEAVES]
    names.append("final_norm.gain")
    legal_model([r.name.decode() for r in records] == names)

    shapes = [r.dims for r in records]
    legal_model(positive(shapes[0], 2))
    # Reported last by the loader, but no kind tells these apart.
    remembered = shapes[0] == [h.vocabulary, h.width]
    for layer in range(h.layers):
        remembered &= block(h, *shapes[1 + 9 * layer:10 + 9 * layer])
    legal_model(positive(shapes[-1], 1))
    remembered &= shapes[-1] == [h.width]
    legal_model(remembered)


def positive(shape, rank):
    return len(shape) == rank and all(extent > 0 for extent in shape)


def block(h, attention_norm, query, key, value, output, ffn_norm, gate, up,
          down):
    """Returns whether the shapes of a layer are those of the configuration."""
    legal_model(positive(attention_norm, 1))
    for shape in (query, key, value):
        legal_model(positive(shape, 2))
    legal_model(query[0] == key[0] == value[0])
    legal_model(query[1] == key[1] == value[1])
    legal_model(positive(output, 2))
    width = query[0]
    legal_model(width % h.heads == 0)
    legal_model(width // h.heads % 2 == 0)
    legal_model(query[1] == width)
    legal_model(output == [width, width])
    rope(width // h.heads, h.positions, h.rope_base)
    legal_model(positive(ffn_norm, 1))
    for shape in (gate, up, down):
        legal_model(positive(shape, 2))
    legal_model(gate[0] == up[0] and gate[1] == up[1] and down[0] == gate[1])
    legal_model(attention_norm[0] == ffn_norm[0] == gate[0] == down[1]
                == width)
    return width == h.width and gate[1] == h.feed_forward


def rope(head_width, positions, base):
    pairs = head_width // 2
    legal_model(pairs <= ROPE_LIMIT and positions * pairs <= ROPE_LIMIT)
    for pair in range(pairs):
        try:
            frequency = math.pow(base, -2.0 * pair / head_width)
        except OverflowError:
            frequency = math.inf
        legal_model(math.isfinite(frequency))
        # Sine and cosine of a finite angle are finite.
        legal_model(math.isfinite(float(positions - 1) * frequency))


# --- F: the optimizer -------------------------------------------------------


def optimizer(data, h, records):
    """Returns the first moments' records."""
    firsts, seconds = records[0::2], records[1::2]
    for first, second in zip(firsts, seconds):
        need((first.role, first.dtype) == (FIRST, F64), "F1", "Layout",
             first.index)
        need((second.role, second.dtype) == (SECOND, F64)
             and second.name == first.name, "F2", "Layout",
             second.index)
        need(first.dims == second.dims, "F3", "Layout")
        need(finite(reals(data, first)), "F4", "AdamWState", first.index)
        squares = reals(data, second)
        need(finite(squares), "F4", "AdamWState", second.index)
        need(not any(x < 0 for x in squares), "F4", "AdamWState",
             second.index)
    for bits in (h.power1_bits, h.power2_bits):
        need(legal_power(bits, h.step), "F5", "AdamWState")
    need((h.step == 0) == (not firsts), "F6", "AdamWState")
    if h.groups and h.step > 0:
        grouped = sorted(set(h.groups[0]) | set(h.groups[1]))
        need(grouped == sorted(r.name for r in firsts), "F7", "AdamWState")
    return firsts


def legal_power(bits, step):
    if step == 0:
        return bits == 0x3FF0000000000000
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return math.isfinite(value) and 0 <= value < 1


# --- G: the whole state -----------------------------------------------------


def ascending(names):
    return all(a < b for a, b in zip(names, names[1:]))


def state(h, vocabulary, parameters, moments):
    need(vocabulary == h.vocabulary, "G1", "VocabularyMismatch")
    need(h.selected_step == h.step, "G2", "StepMismatch")
    if h.step > 0:
        shapes = {r.name: r.dims for r in moments}
        need(sorted(shapes) == sorted(r.name for r in parameters), "G3",
             "OptimizerNames")
        need(all(shapes[r.name] == r.dims for r in parameters), "G4",
             "OptimizerShape")
    lists = (h.groups or []) + [[r.name for r in moments]]
    need(all(map(ascending, lists)), "G5", "NonCanonical")


def judge(data):
    """The Answer of the format's loader on these bytes."""
    try:
        header_bytes = fixed_header(data)
        h = Header(data, header_bytes)
        table(h, header_bytes, len(data))
        tokens = tokenizer_records(h)
        models_end = tokens + h.parameters
        vocabulary = tokenizer(data, h, h.records[:tokens])
        parameters = h.records[tokens:models_end]
        model(data, h, parameters)
        moments = optimizer(data, h, h.records[models_end:])
        state(h, vocabulary, parameters, moments)
    except Stop as stop:
        return stop.answer
    return VALID


def main(paths):
    if not paths:
        sys.exit(__doc__)
    for path in paths:
        with open(path, "rb") as f:
            answer = judge(f.read())
        print(path, *("-" if word is None else word for word in answer),
              sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
