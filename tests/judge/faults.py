# SPDX-License-Identifier: MIT
"""Faults of SHAPE: what an LLMCP35 file holds. Each is a function of the random
numbers and the Checkpoint, and says what it did, or None if it could not.
"""
import math
import struct

from checkpoints import (BPE, FIRST, HEAD, LITERAL, NEGATIVE_ZERO, ONE,
                         PARAMETER, REAL_FIELDS, SECOND, TAIL, WIDTHS, Name,
                         Record, bits, real)
from judge import MAX64
from odd_values import NAMES, number, odd_name, odd_real


def any_record(rng, c, *roles):
    """Where one fault is, or beside it, the next often is as well: only then
    is it seen which of the two comes first."""
    records = c.of_role(*roles) if roles else c.records
    near = [i for i, r in enumerate(records) if r is c.focus]
    if near and rng.chance(60):
        at = near[0] + rng.pick((0, 0, 0, 1, -1, 2, -2))
        return records[min(max(at, 0), len(records) - 1)]
    c.focus = rng.pick(records) if records else None
    return c.focus


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


def set_power(rng, c):
    name = rng.pick(("beta1_power", "beta2_power"))
    c.fields[name] = odd_real(rng)
    return "%s bits %016x" % (name, c.fields[name])


def set_token(rng, c):
    """The record of a token or of the merges: name, type, shape."""
    r = any_record(rng, c, LITERAL, BPE)
    if r is None:
        return None
    roll = rng.below(4)
    if roll == 0:
        r.name.rename(odd_name(rng, r.name.text)[0])
    elif roll == 1:
        r.role = rng.pick((LITERAL, BPE, PARAMETER, FIRST))
    elif roll == 2:
        r.dims = reshape_to(rng, r.dims)
        fill(rng, r)
    else:
        r.dtype, r.dims = 1, [len(r.data)]
    return "records[%d], a token's: change %d" % (index_of(c, r), roll)


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


def spoil_value(rng, c):
    """Never legal: not finite, or a second moment below 0."""
    r = any_record(rng, c, *rng.pick(((PARAMETER,), (FIRST, SECOND))))
    if r is None or len(r.data) < 8:
        return None
    at = rng.below(len(r.data) // 8)
    new = rng.pick((0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0x7FF << 52 | 1,
                    bits(-1.0), NEGATIVE_ZERO | 1))
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


SHAPE = ((4, set_number), (3, set_config), (6, set_real), (1, set_decay),
         (1, set_power), (1, spoil_value), (1, set_token), (1, set_angles),
         (3, set_step),
         (2, set_vocabulary), (5, change_groups), (5, rename), (3, set_role),
         (3, set_dtype), (6, reshape), (2, no_bytes), (2, phantom),
         (2, widen), (6, set_value), (2, swap_records), (2, swap_pairs),
         (2, remove_record), (3, remove_name), (3, duplicate_record),
         (2, add_moments), (4, change_token), (9, change_merges),
         (2, change_kind))
