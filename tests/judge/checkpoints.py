# SPDX-License-Identifier: MIT
"""LLMCP35 files to damage: an encoder that also encodes lies.

A Checkpoint holds every number that a file declares apart from what it
declares it of, so a fault may change either, and repair() makes some of the
numbers true again.  base_files() invents valid ones of many shapes; parse()
takes those of the corpus.  Nothing here is of src/.
"""
import copy
import struct

from judge import MAX64, fnv1a, plain_fnv1a

MAGIC = b"LLMCP35\0"
LITERAL, BPE, PARAMETER, FIRST, SECOND = 1, 2, 3, 4, 5
WIDTHS = {1: 1, 2: 4, 3: 8}
ONE = 0x3FF0000000000000
NEGATIVE_ZERO = 1 << 63

REAL_FIELDS = ("rope_base", "rms_epsilon", "learning_rate", "beta1", "beta2",
               "epsilon", "weight_decay")
# In file order; reals are kept as their bits.
HEAD = (("tokenizer_layout", "H"), ("rng_algorithm", "H"),
        ("selected_step", "Q"), ("sampling_rng_state", "Q"),
        ("tokenizer_kind", "B"), ("tokenizer_vocabulary", "Q"),
        ("vocabulary", "Q"), ("width", "Q"), ("heads", "Q"),
        ("feed_forward", "Q"), ("layers", "Q"), ("positions", "Q"),
        ) + tuple((name, "Q") for name in REAL_FIELDS) + (("flag", "B"),)
TAIL = (("step", "Q"), ("beta1_power", "Q"), ("beta2_power", "Q"),
        ("parameters", "I"), ("optimizer", "I"), ("descriptors", "I"))
LEAVES = (("attention_norm.gain", "D"), ("attention.query.weight", "DD"),
          ("attention.key.weight", "DD"), ("attention.value.weight", "DD"),
          ("attention.output.weight", "DD"), ("ffn_norm.gain", "D"),
          ("ffn.gate.weight", "DF"), ("ffn.up.weight", "DF"),
          ("ffn.down.weight", "FD"))


class Rng:
    """SplitMix64, so that a mutant is the same under every Python."""

    def __init__(self, *names):
        self.state = plain_fnv1a(repr(names).encode())

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MAX64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MAX64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MAX64
        return z ^ z >> 31

    def below(self, n):
        return self.next() % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, things):
        return things[self.below(len(things))]

    def bytes(self, n):
        return b"".join(struct.pack("<Q", self.next())
                        for _ in range(n // 8 + 1))[:n]


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


class Name:
    """A string and the length it declares."""

    def __init__(self, text):
        self.text, self.length = text, len(text)

    def copy(self):
        name = Name.__new__(Name)
        name.text, name.length = self.text, self.length
        return name

    def rename(self, text):
        self.text, self.length = text, len(text)

    def encode(self):
        return [struct.pack("<I", self.length), self.text]


class Record:
    def __init__(self, role, name, dtype, dims, data):
        self.role, self.dtype, self.dims, self.data = role, dtype, dims, data
        self.name = Name(name)
        self.rank, self.offset, self.length = len(dims), 0, len(data)

    def copy(self):
        r = Record.__new__(Record)
        r.__dict__.update(self.__dict__)
        r.name, r.dims = self.name.copy(), list(self.dims)
        return r

    def encode(self):
        return [struct.pack("<B", self.role), *self.name.encode(),
                struct.pack("<B", self.dtype), struct.pack("<I", self.rank),
                *(struct.pack("<Q", d & MAX64) for d in self.dims),
                struct.pack("<Q", self.offset & MAX64),
                struct.pack("<Q", self.length & MAX64)]


class Checkpoint:
    def __init__(self, label):
        self.label = label
        self.magic, self.version, self.endian = MAGIC, 1, b"\4\3\2\1"
        self.header_bytes = self.payload_bytes = self.checksum = 0
        self.fields = dict.fromkeys(name for name, _ in HEAD + TAIL)
        self.groups = [[], []]
        self.group_counts = [0, 0]
        self.records = []

    def copy(self):
        c = copy.copy(self)
        c.fields = dict(self.fields)
        c.group_counts = list(self.group_counts)
        c.groups = [[n.copy() for n in names] for names in self.groups]
        c.records = [r.copy() for r in self.records]
        return c

    def of_role(self, *roles):
        return [r for r in self.records if r.role in roles]

    def variable(self):
        """The header behind its fixed part, in the smallest pieces."""
        f = self.fields
        parts = [struct.pack("<" + form, f[name]) for name, form in HEAD]
        if f["flag"]:
            for count, names in zip(self.group_counts, self.groups):
                parts.append(struct.pack("<I", count))
                for name in names:
                    parts += name.encode()
        parts += [struct.pack("<" + form, f[name]) for name, form in TAIL]
        for r in self.records:
            parts += r.encode()
        return parts

    def pieces(self):
        return [self.magic, struct.pack("<H", self.version), self.endian,
                struct.pack("<Q", self.header_bytes & MAX64),
                struct.pack("<Q", self.payload_bytes & MAX64),
                struct.pack("<Q", self.checksum), *self.variable(),
                *(r.data for r in self.records)]

    def repair_lengths(self):
        for r in self.records:
            r.rank, r.length = len(r.dims), len(r.data)

    def repair_offsets(self):
        """What the table says of itself, whatever the payload is."""
        at = 38 + sum(map(len, self.variable()))
        for r in self.records:
            r.offset = at
            at += r.length

    def repair_counts(self):
        self.group_counts = [len(names) for names in self.groups]
        self.fields["parameters"] = len(self.of_role(PARAMETER))
        self.fields["optimizer"] = len(self.of_role(FIRST, SECOND)) // 2
        self.fields["descriptors"] = len(self.records)

    def repair_extents(self):
        self.header_bytes = 38 + sum(map(len, self.variable()))
        self.payload_bytes = sum(len(r.data) for r in self.records)

    def repair(self):
        self.repair_lengths()
        self.repair_counts()
        self.repair_offsets()
        self.repair_extents()


def with_checksum(data):
    return data[:30] + struct.pack("<Q", fnv1a(data)) + data[38:]


# --- valid files of many shapes ---------------------------------------------


def real(rng):
    """The bits of an ordinary finite number, seldom of an odd one."""
    if rng.chance(6):
        return rng.pick((0, NEGATIVE_ZERO, 1, NEGATIVE_ZERO | 1, 1 << 52,
                         0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF))
    return rng.below(2) << 63 | rng.between(1000, 1026) << 52 | \
        rng.next() >> 12


def reals(rng, count, positive=False):
    values = [real(rng) for _ in range(count)]
    if positive:
        values = [v if v == NEGATIVE_ZERO else v & ~NEGATIVE_ZERO
                  for v in values]
    return struct.pack("<%dQ" % count, *values)


def add_literal(rng, c, tokens):
    seen = set()
    while len(seen) < tokens:
        piece = rng.bytes(rng.between(1, 4))
        if piece not in seen:
            c.records.append(Record(LITERAL, b"%d" % len(seen), 1,
                                    [len(piece)], piece))
            seen.add(piece)
    return tokens


def add_bpe(rng, c, merges):
    pairs = []
    while len(pairs) < merges:
        pair = (rng.below(256 + len(pairs)), rng.below(256 + len(pairs)))
        if pair not in pairs:
            pairs.append(pair)
    data = b"".join(struct.pack("<II", *pair) for pair in pairs)
    c.records.append(Record(BPE, b"training-pairs", 2, [merges, 2], data))
    return 258 + merges


def add_tensors(rng, c, sizes, layers, moments):
    shapes = [("token_embedding.weight", "VD")]
    for layer in range(layers):
        shapes += [("blocks.%d.%s" % (layer, leaf), shape)
                   for leaf, shape in LEAVES]
    shapes.append(("final_norm.gain", "D"))
    named = []
    for name, shape in shapes:
        dims = [sizes[letter] for letter in shape]
        count = dims[0] * (dims[1] if len(dims) > 1 else 1)
        named.append((name.encode(), dims, count))
        c.records.append(Record(PARAMETER, name.encode(), 3, dims,
                                reals(rng, count)))
    for name, dims, count in sorted(named) if moments else ():
        c.records.append(Record(FIRST, name, 3, list(dims),
                                reals(rng, count)))
        c.records.append(Record(SECOND, name, 3, list(dims),
                                reals(rng, count, positive=True)))
    return sorted(name for name, _, _ in named)


def set_fields(rng, c, sizes, heads, layers, step):
    below_one = (0, NEGATIVE_ZERO, 1, bits(0.9), bits(0.5), ONE - 1)
    c.fields.update(
        tokenizer_layout=1, rng_algorithm=1, selected_step=step,
        sampling_rng_state=rng.next(), tokenizer_vocabulary=sizes["V"],
        vocabulary=sizes["V"], width=sizes["D"], heads=heads,
        feed_forward=sizes["F"], layers=layers,
        positions=rng.pick((1, 2, 8, 64, 1 << 40)),
        rope_base=rng.pick((bits(10000.0), bits(1.0), 1, bits(1e300))),
        rms_epsilon=rng.pick((bits(1e-5), 0, NEGATIVE_ZERO, bits(1.0))),
        learning_rate=bits(rng.pick((0.006, 1.0, 1e-300, 1e300))),
        beta1=rng.pick(below_one), beta2=rng.pick(below_one),
        epsilon=rng.pick((bits(1e-8), 1, bits(1e308))),
        weight_decay=rng.pick((0, NEGATIVE_ZERO)), step=step,
        beta1_power=rng.pick(below_one) if step else ONE,
        beta2_power=rng.pick(below_one) if step else ONE)
    if c.fields["learning_rate"] == bits(0.006):
        c.fields["weight_decay"] = bits(rng.pick((0.01, 0.0, 166.0)))


def set_groups(rng, c, names, step):
    c.fields["flag"] = int(rng.chance(55))
    if step == 0 and rng.chance(30):
        names = [b"Z\0\xc3\xa9", b"no.such.parameter"]  # nobody looks
    at = rng.pick((0, len(names), rng.below(len(names) + 1)))
    for i, name in enumerate(names):
        c.groups[int(i >= at)].append(Name(name))


def invent(label, rng, width=None, layers=None):
    """One valid checkpoint; of all sizes small."""
    c = Checkpoint(label)
    bpe = rng.chance(20) and width is None
    heads = 1 if width else rng.pick((1, 1, 2, 3))
    layers = rng.pick((0, 0, 0, 1, 1, 2, 3)) if layers is None else layers
    if bpe:
        heads, layers = 1, min(layers, 1)
    width = width or heads * rng.pick((2, 2, 4) if heads == 1 else (2,))
    # Large ones are rare: the powers of beta are worked out for them.
    step = rng.pick((0, 0, 1, 2, 8)) if rng.chance(98) else \
        rng.pick((1000, 1 << 53, MAX64))
    if bpe and rng.chance(70) or width > 9:
        step = 0
    c.fields["tokenizer_kind"] = BPE if bpe else LITERAL
    vocabulary = add_bpe(rng, c, rng.below(6)) if bpe else \
        add_literal(rng, c, rng.between(1, 5))
    sizes = {"V": vocabulary, "D": width, "F": rng.between(1, 4)}
    set_fields(rng, c, sizes, heads, layers, step)
    names = add_tensors(rng, c, sizes, layers, step > 0)
    set_groups(rng, c, names, step)
    c.repair()
    return c


def base_files(seed, count):
    """Small ones, and some large ones: wide enough that frequencies and angles
    of the rotary embedding can leave the range of a double, and deep enough
    that the order of names is not that of layers."""
    small = [invent("invented-%d" % i, Rng(seed, "base", i))
             for i in range(count)]
    large = [invent("wide-%d" % width, Rng(seed, "wide", width), width, 1)
             for width in (22, 22, 46)]
    large.append(invent("deep-11", Rng(seed, "deep"), 2, 11))
    return small, large


# --- files of others --------------------------------------------------------


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def name(self):
        return self.take("%ds" % self.take("I"))


def parse(label, data):
    """A file that is known to be valid."""
    c, b = Checkpoint(label), Bytes(data)
    c.magic, c.version, c.endian = b.take("8s"), b.take("H"), b.take("4s")
    c.header_bytes, c.payload_bytes = b.take("Q"), b.take("Q")
    c.checksum = b.take("Q")
    for name, form in HEAD:
        c.fields[name] = b.take(form)
    if c.fields["flag"]:
        for i in range(2):
            c.group_counts[i] = b.take("I")
            c.groups[i] = [Name(b.name()) for _ in range(c.group_counts[i])]
    for name, form in TAIL:
        c.fields[name] = b.take(form)
    for _ in range(c.fields["descriptors"]):
        role, name, dtype = b.take("B"), b.name(), b.take("B")
        dims = [b.take("Q") for _ in range(b.take("I"))]
        offset, length = b.take("Q"), b.take("Q")
        r = Record(role, name, dtype, dims, data[offset:offset + length])
        r.offset = offset
        c.records.append(r)
    if b"".join(c.pieces()) != data:
        raise ValueError("%s is not written again as it was" % label)
    return c
