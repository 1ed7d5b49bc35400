# SPDX-License-Identifier: MIT
"""Damage that knows the format: a mutant is a base file with one or more
faults, and is named by its seed and number alone.

Faults come in three layers.  SHAPE (faults.py) changes what the file holds,
after which lengths, offsets, counts and extents are each made true again, or
not.  LIE changes one declared number.  RAW changes bytes of the encoded file.
At the end the checksum is made true again in most mutants, or nothing behind
it would ever be looked at.
"""
import struct

from checkpoints import BPE, Rng, base_files, with_checksum
from faults import (SHAPE, add_moments, any_record, change_groups, change_kind,
                    change_merges, change_token, duplicate_record, index_of,
                    no_bytes, phantom, remove_name, remove_record, rename,
                    reshape, set_angles, set_config, set_decay, set_dtype,
                    set_number, set_power, set_real, set_role, set_step,
                    set_token, set_value, set_vocabulary, spoil_value,
                    swap_pairs, swap_records, widen)
from judge import MAX64
from odd_values import number

# --- LIE: a declared number -------------------------------------------------


def lie_count(rng, c):
    name = rng.pick(("parameters", "optimizer", "descriptors"))
    old = c.fields[name]
    c.fields[name] = number(rng, old, 2**32 - 1)
    if rng.chance(30):  # two counts that make up for each other
        other = "optimizer" if name == "parameters" else "parameters"
        c.fields[other] = (c.fields[other] + (old - c.fields[name])
                           * rng.pick((1, 2))) % 2**32
    return "%s = %d" % (name, c.fields[name])


def lie_group(rng, c):
    if not c.fields["flag"]:
        c.fields["flag"] = rng.pick((2, 255, 1))
        return "flag %d" % c.fields["flag"]
    side = rng.below(2)
    if c.groups[side] and rng.chance(50):
        name = rng.pick(c.groups[side])
        name.length = number(rng, name.length, 2**32 - 1)
        return "group name length %d" % name.length
    c.group_counts[side] = number(rng, c.group_counts[side], 2**32 - 1)
    return "group count %d" % c.group_counts[side]


def lie_record(rng, c):
    r = any_record(rng, c)
    if r is None:
        return None
    at, what = index_of(c, r), rng.below(5)
    if what == 0:
        r.name.length = number(rng, r.name.length, 2**32 - 1)
        return "records[%d].name.length = %d" % (at, r.name.length)
    if what == 1:
        r.rank = number(rng, r.rank, 2**32 - 1)
        return "records[%d].rank = %d" % (at, r.rank)
    if what == 2 and r.dims:
        j = rng.below(len(r.dims))
        r.dims[j] = number(rng, r.dims[j])
        return "records[%d].dims[%d] = %d" % (at, j, r.dims[j])
    if what == 3:
        r.offset = number(rng, r.offset)
        return "records[%d].offset = %d" % (at, r.offset)
    r.length = number(rng, r.length)
    return "records[%d].byte_length = %d" % (at, r.length)


def lie_extent(rng, c):
    roll = rng.below(5)
    if roll == 0:  # the sum stays true
        by = rng.pick((1, -1, 8, -8, 26, c.payload_bytes))
        c.header_bytes, c.payload_bytes = (c.header_bytes + by,
                                           c.payload_bytes - by)
    elif roll == 1:  # true if additions wrapped around
        c.header_bytes, c.payload_bytes = (
            c.header_bytes + 2**63, c.payload_bytes + 2**63)
    elif roll < 4:
        c.header_bytes = number(rng, c.header_bytes)
    else:
        c.payload_bytes = number(rng, c.payload_bytes)
    return "extents %d and %d" % (c.header_bytes & MAX64,
                                  c.payload_bytes & MAX64)


def lie_fixed(rng, c):
    roll = rng.below(3)
    if roll == 0:
        at = rng.below(8)
        c.magic = c.magic[:at] + rng.bytes(1) + c.magic[at + 1:]
        return "magic %r" % c.magic
    if roll == 1:
        c.version = rng.pick((0, 2, 256, 65535))
        return "version %d" % c.version
    c.endian = rng.pick((b"\1\2\3\4", b"\1\2\3\4", b"\0\0\0\0", b"\4\3\2\0",
                         b"\3\4\1\2"))
    return "endian marker %r" % c.endian


# --- RAW: bytes of the encoded file -----------------------------------------


class Encoded:
    """Bytes, the boundaries of the fields, and where the header ends."""

    def __init__(self, c):
        pieces = c.pieces()
        self.data = b"".join(pieces)
        self.edges, at = [0], 0
        for piece in pieces:
            at += len(piece)
            self.edges.append(at)
        self.header = min(c.header_bytes & MAX64, len(self.data))

    def splice(self, at, end, new, true_extents):
        self.data = self.data[:at] + new + self.data[end:]
        if at < self.header:
            grown = len(new) - (end - at)
            self.header = max(self.header + grown, min(at, self.header))
        self.header = min(self.header, len(self.data))
        if true_extents and len(self.data) >= 38:
            self.data = (self.data[:14] + struct.pack(
                "<QQ", self.header, len(self.data) - self.header)
                + self.data[30:])


def place(rng, e):
    """An offset: of a field, of any byte, or of a byte of the header."""
    roll = rng.below(3)
    if roll == 0:
        return min(max(rng.pick(e.edges) + rng.pick((0, 0, 1, -1)), 0),
                   len(e.data))
    return rng.below((len(e.data) if roll == 1 else e.header) + 1)


def raw_flip(rng, e):
    at = place(rng, e)
    if at == len(e.data):
        return None
    bit = rng.below(8)
    e.splice(at, at + 1, bytes([e.data[at] ^ 1 << bit]), False)
    return "bit %d of byte %d flipped" % (bit, at)


def raw_set(rng, e):
    at = place(rng, e)
    new = rng.pick((b"\0", b"\xff", b"\x80", b"\1", b"\x7f", rng.bytes(1),
                    rng.bytes(4), bytes(8), b"\xff" * 8))
    e.splice(at, min(at + len(new), len(e.data)), new, False)
    return "%s at %d" % (new.hex(), at)


def raw_cut(rng, e):
    at = place(rng, e)
    e.splice(at, len(e.data), b"", rng.chance(60))
    return "cut at %d" % at


def raw_longer(rng, e):
    new = rng.pick((b"\0", b"\n", bytes(8), rng.bytes(rng.between(1, 40)),
                    e.data[:100]))
    e.splice(len(e.data), len(e.data), new, rng.chance(50))
    return "%d bytes behind the end" % len(new)


def raw_insert(rng, e):
    at = place(rng, e)
    new = rng.pick((b"\0", b"\r", bytes(8), rng.bytes(rng.between(1, 9))))
    e.splice(at, at, new, rng.chance(70))
    return "%d bytes inserted at %d" % (len(new), at)


def raw_delete(rng, e):
    at, n = place(rng, e), rng.pick((1, 1, 4, 8, 26))
    e.splice(at, min(at + n, len(e.data)), b"", rng.chance(70))
    return "%d bytes deleted at %d" % (n, at)


def raw_copy(rng, e):
    """A region is overwritten by another, or by zeros."""
    at, n = place(rng, e), rng.between(1, 64)
    source = place(rng, e)
    new = bytes(n) if rng.chance(40) else e.data[source:source + n]
    e.splice(at, min(at + len(new), len(e.data)), new, False)
    return "%d bytes from %d at %d" % (len(new), source, at)


LIE = ((3, lie_count), (3, lie_group), (7, lie_record), (3, lie_extent),
       (2, lie_fixed))
RAW = ((4, raw_flip), (3, raw_set), (3, raw_cut), (1, raw_longer),
       (2, raw_insert), (2, raw_delete), (1, raw_copy))
THEMES = (
    # One record after the other, and values behind shapes.
    (rename, set_role, set_dtype, reshape, no_bytes, set_value, spoil_value,
     phantom, lie_record, duplicate_record),
    # Moments, powers, steps, groups and names.
    (set_power, set_step, set_value, set_value, swap_pairs, remove_name,
     add_moments, rename, reshape, change_groups, set_role, set_vocabulary),
    (set_power, set_power, spoil_value, spoil_value, swap_pairs, set_step),
    # The tokenizer, and what has as many rows.
    (change_token, change_merges, set_vocabulary, change_kind, swap_records,
     set_token, set_token, set_config, widen),
    # Settings against tensors.
    (set_config, set_config, set_real, set_angles, widen, reshape, spoil_value,
     rename, remove_record),
    # What is read one after the other.
    (set_number, set_real, set_decay, change_groups, change_kind, lie_group,
     lie_count, lie_record, lie_extent, rename, set_role, set_dtype, raw_set,
     raw_cut, raw_flip),
    # The whole file.
    (lie_fixed, lie_fixed, lie_extent, raw_longer, raw_cut, raw_flip,
     set_number))
EVERY = [(layer, fault) for layer, rows in enumerate((SHAPE, LIE, RAW))
         for weight, fault in rows for _ in range(weight)]
LAYERS = {fault: layer for layer, fault in EVERY}


def repair(rng, c, done):
    """After faults of SHAPE: each kind of number, mostly."""
    for what, fix, percent in (("lengths", c.repair_lengths, 92),
                               ("counts", c.repair_counts, 85),
                               ("offsets", c.repair_offsets, 92),
                               ("extents", c.repair_extents, 92)):
        if rng.chance(percent):
            fix()
        else:
            done.append("old " + what)
        if what == "lengths":
            for r in c.records:
                r.length = c.phantoms.get(id(r), r.length)


class Mutants:
    """Mutant i of a seed, from the files invented for that seed and those
    given as (label, Checkpoint)."""

    def __init__(self, seed, others=(), invented=120):
        self.seed = seed
        made, self.large = base_files(seed, invented)
        self.bases = made + list(others)
        self.merged = [b for b in self.bases if b.of_role(BPE)
                       and b.payload_bytes < 6000]

    def base(self, rng):
        roll = rng.below(200)
        if roll < 3:
            return rng.pick(self.large)
        if roll < 23 and self.merged:
            return rng.pick(self.merged)
        # The smallest of three: most faults need no large file.
        return min((rng.pick(self.bases) for _ in range(3)),
                   key=lambda b: b.payload_bytes)

    def make(self, index):
        """(bytes, number of faults, what was done)"""
        rng = Rng(self.seed, "mutant", index)
        base = self.base(rng)
        c = base.copy()
        c.phantoms, c.focus = {}, None
        done = [c.label]
        count = rng.pick((1,) * 9 + (2,) * 6 + (3,) * 3 + (5,))
        chosen = [rng.pick(EVERY) for _ in range(count)]
        if count > 1 and rng.chance(60):
            theme = rng.pick(THEMES)
            chosen = [(LAYERS[fault], fault) for fault in
                      (rng.pick(theme) for _ in range(count))]
        if base in self.large and rng.chance(60):
            chosen.append((0, set_angles))
        chosen.sort(key=lambda f: f[0])
        faults = 0
        for layer in (0, 1):
            results = [f(rng, c) for at, f in chosen if at == layer]
            faults += sum(map(bool, results))
            done += filter(None, results)
            if layer == 0 and any(results):
                repair(rng, c, done)
        e = Encoded(c)
        early = rng.chance(5)
        if early:
            e.data = with_checksum(e.data)
        for _, fault in (f for f in chosen if f[0] == 2):
            result = fault(rng, e)
            faults += bool(result)
            done += filter(None, [result])
        if early or rng.chance(6):
            done.append("old checksum")
        elif len(e.data) >= 38:
            e.data = with_checksum(e.data)
        return e.data, faults, done
