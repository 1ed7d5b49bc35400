# SPDX-License-Identifier: MIT
"""Damage that knows the format: a mutant is a base file with one or more
faults, and is named by its seed and number alone.

Faults come in three layers.  SHAPE changes what the file holds, after which
lengths, offsets, counts and extents are each made true again, or not.  LIE
changes one declared number.  RAW changes bytes of the encoded file.  At the
end the checksum is made true again in most mutants, or nothing behind it would
ever be looked at.
"""
import math
import struct

from checkpoints import (BPE, FIRST, HEAD, LITERAL, NEGATIVE_ZERO, ONE,
                         PARAMETER, REAL_FIELDS, SECOND, TAIL, WIDTHS, Name,
                         Record, Rng, base_files, bits, real, with_checksum)
from judge import MAX64

U64S = (0, 1, 2, 3, 4, 6, 7, 8, 9, 38, 255, 256, 257, 258, 259, 65535, 65536,
        2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**53, 2**59, 2**60,
        (2**63 - 1) // 8, (2**63 - 1) // 8 + 1, 2**61 - 1, 2**61, 2**62,
        2**63 - 1, 2**63, MAX64 // 9, MAX64 // 9 + 1, MAX64 - 38, MAX64 - 2,
        MAX64 - 1, MAX64)
REALS = tuple(map(bits, (
    0.0, 1.0, 0.5, 2.0, 0.006, 0.01, 1e-8, 1e8, 0.9, 0.999, 1e300, 1e-300,
    1e154, 10000.0, float("inf"), float("nan")))) + (
    1, 2, (1 << 52) - 1, 1 << 52, ONE - 1, ONE + 1, 0x7FEFFFFFFFFFFFFF,
    0x7FF0000000000001, 0x7FF7FFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF)
NOT_UTF8 = (b"\xff", b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80",
            b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf",
            b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
            b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xc3", b"\xf0\x9f\x98",
            b"a\xe2\x82a")
UTF8 = (b"\xc3\xa9", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xef\xbf\xbf",
        b"\xf4\x8f\xbf\xbf", b"\xf0\x90\x80\x80", b"\xc2\x80", b"\xe0\xa0\x80",
        b"\0", b"\x7f", b"\xef\xbb\xbf")
NAMES = (b"0", b"1", b"2", b"00", b"01", b"-1", b"10", b"training-pairs",
         b"training_pairs", b"token_embedding.weight", b"final_norm.gain",
         b"blocks.0.attention_norm.gain", b"blocks.00.attention_norm.gain",
         b"blocks.1.ffn.up.weight", b"a", b"a.b", b".a", b"a.", b"a..b", b".",
         b"..", b"A", b"a-b", b"a b", b"`", b"{", b"/", b":", b"a" * 300)


# --- values -----------------------------------------------------------------


def number(rng, old, limit=MAX64):
    """Another unsigned number: near the old one, or a special one."""
    roll = rng.below(10)
    if roll < 4:
        new = old + rng.pick((1, -1, 1, -1, 2, -2, 8, -8, 9, -9, 256))
    elif roll < 5:
        new = rng.pick((old * 2, old // 2, old * 3))
    elif roll < 6:
        new = old ^ 1 << rng.below(limit.bit_length())
    elif roll < 9:
        new = rng.pick(U64S)
    else:
        new = rng.next() >> rng.below(64)
    return new & limit


def odd_real(rng):
    """The bits of a number that some check may be about."""
    if rng.chance(15):
        return rng.next()
    return rng.pick(REALS) | (NEGATIVE_ZERO if rng.chance(25) else 0)


def odd_name(rng, old):
    """Another name and a word for how it was made."""
    at = rng.below(len(old) + 1)
    roll = rng.below(8)
    if roll == 0:
        return old[:at] + rng.pick(NOT_UTF8) + old[at:], "not UTF-8"
    if roll == 1:
        return old[:at] + rng.pick(UTF8) + old[at:], "other characters"
    if roll == 2:
        return rng.pick((old.upper(), old.swapcase(), old.title())), "case"
    if roll == 3:
        return old[:at] + b"." + old[at:], "a dot more"
    if roll == 4:
        return old[:-1], "cut"
    if roll == 5:
        return old + rng.pick((b"0", b"a", b"_", b"\0", b" ")), "longer"
    if roll == 6:
        return b"", "empty"
    return rng.pick(NAMES), "another"


def any_record(rng, c, *roles):
    records = c.of_role(*roles) if roles else c.records
    return rng.pick(records) if records else None


def index_of(c, r):
    return next(i for i, other in enumerate(c.records) if other is r)


def twin(c, r):
    """The other moment of a pair."""
    for other in c.of_role(FIRST, SECOND):
        if other is not r and other.name.text == r.name.text:
            return other
    return None


def elements(dims):
    product = 1
    for d in dims:
        product *= d
    return product


# --- SHAPE: what the file holds ---------------------------------------------


def set_number(rng, c):
    name, form = rng.pick([f for f in HEAD[:12] + TAIL[:1]])
    limit = {"B": 255, "H": 65535, "Q": MAX64}[form]
    c.fields[name] = number(rng, c.fields[name], limit)
    return "%s = %d" % (name, c.fields[name])


def set_config(rng, c):
    name = rng.pick(("width", "heads", "feed_forward", "layers", "positions",
                     "vocabulary"))
    old = c.fields[name]
    c.fields[name] = rng.pick((old * 2, old * 4, old // 2, old + 2, old + 1,
                               1, 0, 2**59, MAX64 - old, number(rng, old)))
    c.fields[name] &= MAX64
    return "%s = %d" % (name, c.fields[name])


def set_real(rng, c):
    name = rng.pick(REAL_FIELDS + ("beta1_power", "beta2_power"))
    c.fields[name] = odd_real(rng)
    return "%s bits %016x" % (name, c.fields[name])


def set_decay(rng, c):
    """Products of learning rate and weight decay near both their bounds."""
    rate, decay = rng.pick(((1.0, 1.0), (0.5, 2.0), (1.0, 1 - 2**-53),
                            (1e-200, 1e-200), (5e-324, 0.5), (5e-324, 1.0),
                            (1e200, 1e200), (2.0, 0.25), (1e-160, 1e-160)))
    c.fields["learning_rate"] = bits(rate)
    c.fields["weight_decay"] = bits(decay)
    return "learning rate %r, weight decay %r" % (rate, decay)


def set_angles(rng, c):
    """Frequencies and angles of the rotary embedding near their bounds."""
    f = c.fields
    head = f["width"] // max(f["heads"], 1)
    if not 2 <= head <= 64:
        return None
    f["rope_base"] = rng.pick((1, 1, 2, 3, bits(1e-320), bits(1e-310),
                               bits(1e-300), bits(1e-308), bits(1e308)))
    base, = struct.unpack("<d", struct.pack("<Q", f["rope_base"]))
    most = (2**63 - 1) // 8 // (head // 2)
    last = -(head - 2) / head * math.log10(base)  # of the largest frequency
    room = 10 ** max(min(308.2547 - last, 18), 0)
    f["positions"] = max(1, rng.pick((
        1, 2, most, most + 1, most - 1, rng.between(1, most),
        int(room), int(room * 0.999), int(room * 1.001), int(room) + 1)))
    return "RoPE base bits %016x, %d positions" % (f["rope_base"],
                                                   f["positions"])


def set_step(rng, c):
    step = rng.pick((0, 1, 2, c.fields["step"] + 1) * 4 + (MAX64,)) & MAX64
    c.fields["step"] = step
    if rng.chance(70):
        c.fields["selected_step"] = step
    if rng.chance(70):
        power = rng.pick((0, bits(0.5))) if step else ONE
        c.fields["beta1_power"] = c.fields["beta2_power"] = power
    return "step %d" % step


def set_vocabulary(rng, c):
    """Both vocabularies, so that the tokenizer's is the odd one, or sizes
    that only overflow together with the counts."""
    v = c.fields["vocabulary"]
    new = rng.pick((v + 1, v - 1, MAX64 - c.fields["parameters"],
                    MAX64 - c.fields["parameters"] - c.fields["optimizer"],
                    MAX64, 0)) & MAX64
    c.fields["tokenizer_vocabulary"] = new
    if rng.chance(50):
        c.fields["vocabulary"] = new
    return "tokenizer vocabulary %d" % new


def change_groups(rng, c):
    if not c.fields["flag"]:
        c.fields["flag"] = 1
        if rng.chance(30):
            c.groups = [[], []]
            return "empty groups"
        for name in sorted({r.name.text for r in c.of_role(PARAMETER)}):
            c.groups[rng.below(2)].append(Name(name))
        return "groups added"
    roll = rng.below(6)
    if roll == 0:
        c.fields["flag"] = 0
        c.groups = [[], []]
        return "no groups"
    if roll == 1:
        c.groups = [[], []]
        return "groups emptied"
    return change_group(rng, c, roll)


def change_group(rng, c, roll):
    side = rng.below(2)
    if not c.groups[side]:
        side = 1 - side
    names = c.groups[side]
    if not names:
        return None
    at = rng.below(len(names))
    if roll == 2:
        text, how = odd_name(rng, names[at].text)
        names[at].rename(text)
        return "group %d name %d: %s" % (side, at, how)
    if roll == 3:
        other = rng.below(len(names))
        names[at], names[other] = names[other], names[at]
        return "group %d names %d and %d swapped" % (side, at, other)
    if roll == 4:
        to = rng.below(2)
        c.groups[to].insert(rng.below(len(c.groups[to]) + 1),
                            Name(names[at].text))
        return "group %d name %d also in group %d" % (side, at, to)
    moved = names.pop(at)
    if rng.chance(60):
        c.groups[1 - side].append(moved)
        if rng.chance(60):
            c.groups[1 - side].sort(key=lambda n: n.text)
    return "group %d name %d moved or removed" % (side, at)


def rename(rng, c):
    r = any_record(rng, c)
    if r is None:
        return None
    text, how = odd_name(rng, r.name.text)
    at = index_of(c, r)
    both = twin(c, r) if r.role in (FIRST, SECOND) and rng.chance(60) else None
    old = r.name.text
    for record in (r, both):
        if record:
            record.name.rename(text)
    if both and rng.chance(60):
        for names in c.groups:
            for n in names:
                if n.text == old:
                    n.rename(text)
    return "records[%d].name%s: %s" % (at, " of both" if both else "", how)


def set_role(rng, c):
    r = any_record(rng, c)
    if r is None:
        return None
    at = index_of(c, r)
    r.role = rng.pick((0, 1, 2, 3, 4, 5, 6, 255, 3, 4, 5))
    return "records[%d].role = %d" % (at, r.role)


def set_dtype(rng, c):
    r = any_record(rng, c)
    if r is None:
        return None
    at, old = index_of(c, r), WIDTHS.get(r.dtype, 1)
    r.dtype = rng.pick((0, 1, 2, 3, 4, 255, 1, 2, 3))
    new = WIDTHS.get(r.dtype, 1)
    fits = r.dims and r.dims[-1] * old % new == 0
    if fits and rng.chance(70):
        r.dims[-1] = r.dims[-1] * old // new
    return "records[%d].dtype = %d" % (at, r.dtype)


def fill(rng, r):
    """The payload that the shape asks for, if it is small."""
    size = elements(r.dims) * WIDTHS.get(r.dtype, 1)
    if size > 1 << 14:
        return False
    if r.dtype != 3:
        r.data = (r.data * (size // max(len(r.data), 1) + 1)
                  + bytes(size))[:size]
    else:
        new = [real(rng) & ~NEGATIVE_ZERO for _ in range(size // 8)]
        r.data = (r.data + struct.pack("<%dQ" % len(new), *new))[:size]
    return True


def reshape_to(rng, dims):
    """Another shape, mostly of another number of elements."""
    dims = list(dims)
    roll = rng.below(9)
    if roll == 0:
        return dims[::-1]
    if roll == 1:
        return [elements(dims)]
    if roll == 2:
        dims.insert(rng.below(len(dims) + 1), 1)
        return dims
    if roll == 3:
        return rng.pick(([], [0], [0, 2**63, 4], [2**63, 0, 4], [0, 0],
                         [2**60, 0], [0, 2**60], [2**32, 2**32, 0],
                         [0, 2**32, 2**32], [2**63, 4, 0], [1, 1, 1]))
    if roll == 4:
        return dims[:-1]
    if not dims:
        return [1]
    at = rng.below(len(dims))
    dims[at] = rng.pick((dims[at] + 1, dims[at] - 1, 0, dims[at] * 2,
                         dims[at] // 2)) % 2**64
    return dims


def reshape(rng, c):
    """One record, or all of the same name, with the payload to it."""
    r = any_record(rng, c)
    if r is None:
        return None
    at, same = index_of(c, r), [r]
    if rng.chance(50) and r.role in (FIRST, SECOND):
        same = [o for o in c.of_role(FIRST, SECOND)
                if o.name.text == r.name.text]
    elif rng.chance(40):
        same = [o for o in c.records if o.name.text == r.name.text]
    dims = reshape_to(rng, r.dims)
    for o in same:
        o.dims = list(dims)
        if rng.chance(95):
            fill(rng, o)
    return "%d from records[%d].dims = %s" % (len(same), at, dims)


def no_bytes(rng, c):
    """A tensor without bytes whose extents multiply to more than 64 bits from
    one side, or from both."""
    r = any_record(rng, c, *rng.pick(((PARAMETER,), (FIRST, SECOND), (BPE,))))
    if r is None:
        return None
    r.dims = list(rng.pick(([0, 2**63, 4], [2**63, 0, 4], [0, 2**32, 2**32],
                            [2**63, 4, 0], [2**60, 0], [0, 2], [0],
                            [0, 2**61], [0, MAX64], [MAX64, 0, MAX64])))
    r.data = b""
    return "records[%d].dims = %s" % (index_of(c, r), r.dims)


def phantom(rng, c):
    """A payload that the table describes in full and the file has not."""
    r = any_record(rng, c)
    if r is None:
        return None
    width = WIDTHS.get(r.dtype, 1)
    r.dims = [rng.pick((MAX64 // width, 2**63 // width, 2**40,
                        len(r.data) // width + 1))]
    c.phantoms[id(r)] = r.dims[0] * width
    return "records[%d] has %d elements without bytes" % (
        index_of(c, r), r.dims[0])


def widen(rng, c):
    """Every tensor of a role has another extent wherever it had this one."""
    old = c.fields[rng.pick(("width", "vocabulary", "feed_forward"))]
    new = rng.pick((old + 1, old + 2, old * 2, max(old - 1, 0)))
    if new * old > 4096:
        return None
    for r in c.of_role(PARAMETER, FIRST, SECOND):
        r.dims = [new if d == old else d for d in r.dims]
        fill(rng, r)
    return "extents %d became %d" % (old, new)


def set_value(rng, c):
    r = any_record(rng, c, *rng.pick(((PARAMETER,), (FIRST,), (SECOND,),
                                      (PARAMETER, FIRST, SECOND))))
    if r is None or len(r.data) < 8:
        return None
    at = rng.pick((0, len(r.data) // 8 - 1, rng.below(len(r.data) // 8)))
    new = odd_real(rng)
    r.data = (r.data[:8 * at] + struct.pack("<Q", new)
              + r.data[8 * at + 8:])
    return "records[%d].data[%d] bits %016x" % (index_of(c, r), at, new)


def swap_records(rng, c):
    if len(c.records) < 2:
        return None
    a = rng.below(len(c.records))
    b = rng.pick((a - 1, (a + 1) % len(c.records), rng.below(len(c.records))))
    c.records[a], c.records[b] = c.records[b], c.records[a]
    return "records %d and %d swapped" % (a, b)


def swap_pairs(rng, c):
    """Two moment pairs: all of it is true, but not in the order required."""
    start = len(c.records) - len(c.of_role(FIRST, SECOND))
    pairs = (len(c.records) - start) // 2
    if pairs < 2:
        return None
    a, b = start + 2 * rng.below(pairs), start + 2 * rng.below(pairs)
    for i in (0, 1):
        c.records[a + i], c.records[b + i] = c.records[b + i], c.records[a + i]
    return "moment pairs at %d and %d swapped" % (a, b)


def remove_record(rng, c):
    if not c.records:
        return None
    if rng.chance(30):
        at = 0
    else:
        at = rng.below(len(c.records))
    n = rng.pick((1, 1, 1, 2))
    del c.records[at:at + n]
    return "%d removed from record %d" % (n, at)


def remove_name(rng, c):
    """A name from everywhere, or a role as a whole."""
    if rng.chance(50):
        role = rng.pick((LITERAL, BPE, PARAMETER, FIRST, SECOND, FIRST))
        gone = c.of_role(*((FIRST, SECOND) if role == FIRST else (role,)))
        if rng.chance(40) and role in (LITERAL, BPE):
            c.fields["tokenizer_vocabulary"] = 0
    else:
        r = any_record(rng, c, FIRST, SECOND)
        gone = [o for o in c.of_role(FIRST, SECOND)
                if r and o.name.text == r.name.text]
        for names in c.groups if rng.chance(50) and r else ():
            names[:] = [n for n in names if n.text != r.name.text]
    if not gone:
        return None
    kept = {id(r) for r in gone}
    c.records = [r for r in c.records if id(r) not in kept]
    return "%d records of one role or name removed" % len(gone)


def duplicate_record(rng, c):
    r = any_record(rng, c)
    if r is None:
        return None
    at, to = index_of(c, r), rng.below(len(c.records) + 1)
    c.records.insert(to, r.copy())
    if rng.chance(50):
        text, _ = odd_name(rng, r.name.text)
        c.records[to].name.rename(text)
    return "record %d again at %d" % (at, to)


def add_moments(rng, c):
    """Where there are none, or for names that are no parameter's."""
    names = sorted(r.name.text for r in c.of_role(PARAMETER))
    if c.of_role(FIRST) or rng.chance(30):
        names = [rng.pick(NAMES)]
    for name in names:
        like = next((r for r in c.of_role(PARAMETER)
                     if r.name.text == name), None)
        dims = list(like.dims) if like else [1]
        if elements(dims) > 2048:
            return None
        for role in (FIRST, SECOND):
            c.records.append(Record(role, name, 3, list(dims),
                                    bytes(8 * elements(dims))))
    return "moments of %d names added" % len(names)


def change_token(rng, c):
    """Literal tokens come, go, become empty, or repeat another."""
    tokens = c.of_role(LITERAL)
    if not tokens:
        return None
    roll, at = rng.below(5), rng.below(len(tokens))
    if roll == 0:
        tokens[at].data, tokens[at].dims = b"", [0]
        return "token %d empty" % at
    if roll == 1:
        other = rng.pick(tokens)
        tokens[at].data, tokens[at].dims = other.data, list(other.dims)
        return "token %d repeats one" % at
    if roll == 2:
        del c.records[len(tokens) - 1]
    else:
        c.records.insert(len(tokens), Record(
            LITERAL, b"%d" % len(tokens), 1, [2], rng.bytes(2)))
    if rng.chance(80):
        c.fields["tokenizer_vocabulary"] = len(c.of_role(LITERAL))
    return "%d tokens" % len(c.of_role(LITERAL))


def change_merges(rng, c):
    r = any_record(rng, c, BPE)
    if r is None or r.dtype != 2:
        return None
    pairs = list(struct.iter_unpack("<II", r.data[:len(r.data) // 8 * 8]))
    roll, n = rng.below(6), len(pairs)
    at = rng.below(n) if n else 0
    if roll == 0 and n:
        pairs.pop(at)
    elif roll == 1 and n:
        pairs.append(pairs[at])
    elif roll == 2 and n > 1:
        pairs.reverse()
    elif roll == 3 and n:
        operand = rng.pick((255 + at, 256 + at, 257 + at, 2**32 - 1, 255))
        pairs[at] = rng.pick(((operand, pairs[at][1]),
                              (pairs[at][0], operand)))
    else:
        pairs.append((rng.below(258 + n), rng.below(258 + n)))
    r.data, r.dims = b"".join(struct.pack("<II", *p) for p in pairs), \
        rng.pick(([len(pairs), 2],) * 8 + ([2 * len(pairs)], [2, len(pairs)],
                                           [len(pairs), 2, 1]))
    if rng.chance(70):
        c.fields["tokenizer_vocabulary"] = 258 + len(pairs)
    return "%d merges" % len(pairs)


def change_kind(rng, c):
    if rng.chance(25):
        c.fields["flag"] = rng.pick((0, 1, 2, 3, 128, 255))
        return "flag %d" % c.fields["flag"]
    c.fields["tokenizer_kind"] = rng.pick((1, 2, 3 - c.fields[
        "tokenizer_kind"] & 255, 0, 3, 255))
    return "tokenizer kind %d" % c.fields["tokenizer_kind"]


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


SHAPE = ((4, set_number), (3, set_config), (6, set_real), (1, set_decay),
         (1, set_angles), (3, set_step), (2, set_vocabulary), (5, change_groups), (5, rename),
         (3, set_role), (3, set_dtype), (6, reshape), (2, no_bytes),
         (2, phantom),
         (2, widen), (6, set_value), (2, swap_records), (2, swap_pairs),
         (2, remove_record), (3, remove_name), (3, duplicate_record),
         (2, add_moments), (4, change_token), (9, change_merges),
         (2, change_kind))
LIE = ((3, lie_count), (3, lie_group), (7, lie_record), (3, lie_extent),
       (2, lie_fixed))
RAW = ((4, raw_flip), (3, raw_set), (3, raw_cut), (1, raw_longer),
       (2, raw_insert), (2, raw_delete), (1, raw_copy))
EVERY = [(layer, fault) for layer, rows in enumerate((SHAPE, LIE, RAW))
         for weight, fault in rows for _ in range(weight)]


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
        c.phantoms = {}
        done = [c.label]
        count = rng.pick((1,) * 11 + (2,) * 5 + (3,) * 2 + (5,))
        chosen = [rng.pick(EVERY) for _ in range(count)]
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
