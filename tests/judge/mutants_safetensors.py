# SPDX-License-Identifier: MIT
"""Damage that knows safetensors: faults in the tree of the header, in its text,
and in the bytes of the file. A mutant is named by its seed and number alone."""
import struct

from checkpoints import Rng
from judge_safetensors import BITS, FIELDS, Number, Object

NAMES = ("a", "b", "model.layers.0.weight", "x.bias", "", "é", "\U0001f600",
         "w", "lm_head.weight", "__metadata", "quote\"", "back\\slash", "\n",
         "dtype", "\u2028", "\x7f", "emb", "0")
NUMBERS = ("0", "1", "2", "3", "4", "8", "-0", "-1", "1.0", "1e0", "1E+2",
           "0.0", "01", "00", "+1", "1.", ".5", "1e", "0x10", "1_0", "NaN",
           "Infinity", "-Infinity", "18446744073709551615",
           "18446744073709551616", "9223372036854775808",
           "2305843009213693952", "2305843009213693951", "4294967296",
           "1e308", "1e309", "-1e400", "1e-400", "9" * 40, "9" * 400, "0e999",
           "--1", "\u0661")
VALUES = ("null", "true", "false", "True", "None", "nul", "undefined")
DTYPES = tuple(BITS) + ("f32", "F128", "FLOAT", "", "F32 ", "bool", "I4",
                        "F8_E4M3FN", "U8\0")
STRINGS = ("\\ud800", "\\udc00", "\\ud83d\\ude00", "\\ude00\\ud83d", "\\x41",
           "\\u12", "\\u00e9", "\\'", "\\/", "\\b\\f\\n\\r\\t", "\t", "\0",
           "\x1f", "\x7f", "\\", "\\u0000", "\\ud83d\\u0041", "\\U00e9",
           "\\u+041", "\ud83d")
CHARACTERS = "{}[],:\"\\ 0123456789eE+-.\t\n\r\x0b\x0c/'#ntfaUF\u00a0\ufeff"
SPACES = (" ", "\t", "\n", "\r", "  ")


class Raw(str):
    """Text that goes into the header as it is."""


# --- writing JSON -----------------------------------------------------------


def quoted(rng, text, escapes):
    out = []
    for char in text:
        code = ord(char)
        if char in "\"\\":
            out.append("\\" + char)
        elif code < 32 or rng.below(1000) < escapes and code < 65536:
            out.append("\\u%04x" % code if rng.chance(50)
                       else "\\u%04X" % code)
        else:
            out.append(char)
    return '"%s"' % "".join(out)


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.spaced = rng.chance(20)
        self.escapes = rng.pick((0, 0, 0, 20, 200))

    def space(self):
        return self.rng.pick(SPACES + ("",) * 6) if self.spaced else ""

    def joined(self, parts, brackets):
        gaps = [self.space() + part + self.space() for part in parts]
        return brackets[0] + ",".join(gaps) + brackets[1]

    def write(self, value):
        if isinstance(value, (Raw, Number)):
            return str(value)
        if isinstance(value, str):
            return quoted(self.rng, value, self.escapes)
        if isinstance(value, Object):
            return self.joined([
                self.write(key) + self.space() + ":" + self.space()
                + self.write(member) for key, member in value], "{}")
        if isinstance(value, list):
            return self.joined([self.write(member) for member in value], "[]")
        return "null" if value is None else str(value)


# --- valid files ------------------------------------------------------------


def shape_of(rng, bits):
    if rng.chance(6):
        return rng.pick(([0], [0, 2**63, 4], [2**63, 0, 4], [3, 0], [0, 0]))
    shape = [rng.between(1, 4) for _ in range(rng.below(4))]
    if bits < 8:
        shape.append(8)
    return shape


def bytes_of(shape, bits):
    product = 1
    for d in shape:
        product *= d
    return product * bits // 8


class File:
    """Metadata and records as a tree, and the bytes behind the header."""

    def __init__(self, rng):
        self.root, self.prefix, self.suffix = Object(), "", ""
        if rng.chance(60):
            self.root.append(("__metadata__", rng.pick((None, Object(), Object(
                (key, "text") for key in NAMES[:rng.below(5)])))))
        names = list(NAMES)
        at, records = 0, []
        for _ in range(rng.pick((0, 1, 1, 2, 2, 3, 4, 6))):
            dtype = rng.pick(tuple(BITS))
            shape = shape_of(rng, BITS[dtype])
            end = at + bytes_of(shape, BITS[dtype])
            name = names.pop(rng.below(len(names)))
            records.append((name, Object(self.fields(
                rng, dtype, shape, at, end))))
            at = end
        if rng.chance(30):
            records.sort(key=lambda pair: pair[0])
        self.root += records
        if rng.chance(20):
            self.root.append(self.root.pop(0)) if self.root else None
        if rng.chance(20):
            self.suffix = rng.pick((" ", "  \n", "\t\r\n", " " * 7))
        self.data = rng.bytes(at)

    @staticmethod
    def fields(rng, dtype, shape, begin, end):
        pairs = [("dtype", dtype),
                 ("shape", [Number(d) for d in shape]),
                 ("data_offsets", [Number(begin), Number(end)])]
        if rng.chance(20):
            pairs.insert(rng.below(3), pairs.pop())
        return pairs

    def records(self):
        return [i for i, (name, value) in enumerate(self.root)
                if name != "__metadata__" and isinstance(value, Object)]


# --- TREE: what the header says ---------------------------------------------


def any_record(rng, f):
    """The record's place among the members of the root, and its fields."""
    places = f.records()
    if not places:
        return None, None
    at = rng.pick(places)
    return at, f.root[at][1]


def deep(rng, levels):
    value = rng.pick((Number("1"), Object(), [], "x"))
    for _ in range(levels - 1):
        value = rng.pick(([value], Object([("k", value)])))
    return value


def any_value(rng):
    return rng.pick((
        lambda: Number(rng.pick(NUMBERS)), lambda: Raw(rng.pick(VALUES)),
        lambda: Raw('"%s"' % rng.pick(STRINGS)), lambda: rng.pick(NAMES),
        lambda: Object(), lambda: [], lambda: Number(str(rng.next())),
        lambda: Object([("k", "v"), (rng.pick(("k", "l")), Number("1"))]),
        lambda: deep(rng, rng.pick((2, 5, 6, 7, 9, 40)))))()


def replace_field(rng, f):
    _, record = any_record(rng, f)
    if not record:
        return None
    at = rng.below(len(record))
    record[at] = (record[at][0], any_value(rng))
    return "%s = %s" % (record[at][0], record[at][1])


def set_dtype(rng, f):
    _, record = any_record(rng, f)
    if record is None:
        return None
    dtype = rng.pick(DTYPES)
    if rng.chance(10):
        dtype = Object([(rng.pick(tuple(BITS)), None)])
    record[:] = [(k, dtype if k == "dtype" else v) for k, v in record]
    return "dtype %s" % dtype


def set_number(rng, f):
    """One dimension or offset."""
    _, record = any_record(rng, f)
    lists = [v for _, v in record or () if isinstance(v, list)
             and not isinstance(v, Object) and v]
    if not lists:
        return None
    numbers = rng.pick(lists)
    at = rng.below(len(numbers))
    old = int(numbers[at]) if str(numbers[at]).isdecimal() \
        and len(numbers[at]) < 30 else 0
    numbers[at] = Number(rng.pick((
        str(old + 1), str(max(old - 1, 0)), str(old + 8), str(old * 2), "0",
        str(old // 2), rng.pick(NUMBERS))))
    return "number %d = %s" % (at, numbers[at])


def change_list(rng, f):
    """A dimension or an offset more or less, or two of them exchanged."""
    _, record = any_record(rng, f)
    lists = [v for _, v in record or () if isinstance(v, list)
             and not isinstance(v, Object)]
    if not lists:
        return None
    numbers = rng.pick(lists)
    roll = rng.below(4)
    if roll == 0 and numbers:
        numbers.pop(rng.below(len(numbers)))
    elif roll == 1:
        numbers.reverse()
    else:
        numbers.insert(rng.below(len(numbers) + 1),
                       any_value(rng) if roll == 2 else Number("1"))
    return "list %s" % numbers


def remove_field(rng, f):
    _, record = any_record(rng, f)
    if not record:
        return None
    key, _ = record.pop(rng.below(len(record)))
    return "no %s" % key


def add_field(rng, f):
    """An unknown one, or one that is there."""
    _, record = any_record(rng, f)
    if record is None:
        return None
    key = rng.pick(FIELDS + ("x", "x", "x", "Dtype", "byte_order", ""))
    old = dict(record).get(key)
    value = old if old is not None and rng.chance(50) else any_value(rng)
    record.insert(rng.below(len(record) + 1), (key, value))
    if rng.chance(20):
        record.insert(rng.below(len(record) + 1), (key, any_value(rng)))
    return "field %s = %s" % (key, value)


def add_deep(rng, f):
    _, record = any_record(rng, f)
    if record is None:
        return None
    levels = rng.pick((1, 5, 6, 7, 8, 20, 124, 125, 126, 127, 200, 3000))
    record.append(("x", deep(rng, levels) if levels < 999 else
                   Raw("[" * levels + "]" * levels)))
    return "an unknown field %d deep" % levels


def change_metadata(rng, f):
    places = [i for i, (k, _) in enumerate(f.root) if k == "__metadata__"]
    if not places or rng.chance(10):
        f.root.insert(rng.below(len(f.root) + 1), (
            "__metadata__", rng.pick((None, Object(), any_value(rng)))))
        return "__metadata__ once more"
    at = rng.pick(places)
    metadata = f.root[at][1]
    if not isinstance(metadata, Object) or rng.chance(30):
        f.root[at] = ("__metadata__", any_value(rng))
        return "__metadata__ = %s" % (f.root[at][1],)
    key = rng.pick([k for k, _ in metadata] + list(NAMES[:4]))
    metadata.append((key, rng.pick(("other", any_value(rng)))))
    return "metadata %r = %s" % (key, metadata[-1][1])


def change_member(rng, f):
    """A tensor that is no object, is gone, is renamed, is there twice."""
    at, record = any_record(rng, f)
    if record is None:
        return None
    name, roll = f.root[at][0], rng.below(7)
    if roll == 0:
        f.root[at] = (name, any_value(rng))
    elif roll == 1:
        f.root.pop(at)
    elif roll == 2:
        f.root[at] = (rng.pick(NAMES), record)
    elif roll == 3:
        values = [v for k in FIELDS for key, v in record if key == k]
        f.root[at] = (name, values + [Number("1")] * rng.chance(10))
    elif roll == 4:
        f.root.insert(rng.below(len(f.root) + 1), (name, any_value(rng)))
    else:
        twin = Object((k, list(v) if isinstance(v, list) and not isinstance(
            v, Object) else v) for k, v in record)
        f.root.insert(rng.below(len(f.root) + 1), (name, twin))
        if roll == 5:
            return "tensor %r twice; %s" % (name, set_number(rng, f))
    return "tensor %r: change %d" % (name, roll)


def swap_ranges(rng, f):
    """The offsets of one tensor become another's, or both change places."""
    lists = [(i, j) for i in f.records()
             for j, (k, _) in enumerate(f.root[i][1]) if k == "data_offsets"]
    if len(lists) < 2:
        return None
    (a, x), (b, y) = rng.pick(lists), rng.pick(lists)
    one, two = f.root[a][1], f.root[b][1]
    old, new = one[x][1], two[y][1]
    one[x] = ("data_offsets", new)
    if rng.chance(50):
        two[y] = ("data_offsets", old)
    return "offsets %s and %s" % (old, new)


def move_ranges(rng, f):
    """Tensors from one on lie further on, and so perhaps do the bytes."""
    by, moved, bound = rng.pick((1, 8, 3)), 0, rng.below(len(f.data) + 1)
    for i in f.records():
        for j, (key, value) in enumerate(f.root[i][1]):
            if key == "data_offsets" and isinstance(value, list) and len(
                    value) == 2 and all(str(v).isdecimal() for v in value) \
                    and int(value[0]) >= bound:
                f.root[i][1][j] = (key, [Number(int(v) + by) for v in value])
                moved += 1
    if rng.chance(70):
        f.data = f.data[:bound] + bytes(by) + f.data[bound:]
    return "%d ranges moved by %d" % (moved, by)


def change_data(rng, f):
    roll = rng.below(3)
    if roll == 0:
        f.data += rng.bytes(rng.between(1, 9))
    else:
        f.data = f.data[:rng.below(len(f.data) + 1)]
    return "%d bytes of data" % len(f.data)


# --- TEXT: the characters of the header -------------------------------------


def insert_text(rng, text):
    at = rng.below(len(text) + 1)
    new = rng.pick((rng.pick(CHARACTERS), rng.pick(STRINGS),
                    rng.pick(NUMBERS), rng.pick(VALUES), ",", "//", "/**/",
                    "\\u0061"))
    return text[:at] + new + text[at:], "%r inserted at %d" % (new, at)


def delete_text(rng, text):
    at, n = rng.below(len(text) + 1), rng.pick((1, 1, 1, 2, 5))
    return text[:at] + text[at + n:], "%d characters less at %d" % (n, at)


def replace_text(rng, text):
    at, new = rng.below(len(text) + 1), rng.pick(CHARACTERS)
    return text[:at] + new + text[at + 1:], "%r at %d" % (new, at)


def special_comma(rng, text):
    """In front of a bracket that closes something."""
    places = [i for i, char in enumerate(text) if char in "]}"]
    if not places:
        return text, None
    at = rng.pick(places)
    return text[:at] + "," + text[at:], "a comma at %d" % at


def around_text(rng, text):
    before = rng.pick(("", "", " ", "\n\t", "\ufeff", "\0", "x", "[", "\x0b"))
    after = rng.pick(("", " ", "\n\r\t ", "\0\0", "x", "}", "{}", "\x0c",
                      "\u00a0", " null", ",", "\0 "))
    return before + text + after, "%r before, %r behind" % (before, after)


def copy_text(rng, text):
    at, n = rng.below(len(text) + 1), rng.between(1, 40)
    to = rng.below(len(text) + 1)
    return text[:to] + text[at:at + n] + text[to:], \
        "%d characters at %d again at %d" % (n, at, to)


# --- BYTES: the file --------------------------------------------------------


def set_length(rng, data):
    old, = struct.unpack("<Q", data[:8].ljust(8, b"\0"))
    new = rng.pick((old + 1, old - 1, old + 8, 0, 1, 2, len(data) - 8,
                    len(data) - 7, len(data), 2**63, 2**64 - 1, 100000001,
                    old // 2, rng.below(len(data) + 8))) % 2**64
    return struct.pack("<Q", new) + data[8:], "header length %d" % new


def cut(rng, data):
    at = rng.pick((rng.below(len(data) + 1), rng.below(10), len(data) - 1))
    return data[:max(at, 0)], "cut at %d" % at


def longer(rng, data):
    return data + rng.pick((b"\0", b"PK\3\4", rng.bytes(8))), "bytes behind"


def bad_byte(rng, data):
    """Mostly not UTF-8, where it falls into the header."""
    if len(data) < 9:
        return data, None
    at = rng.between(8, len(data) - 1)
    new = rng.pick((b"\xff", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80",
                    b"\xf4\x90\x80\x80", bytes([data[at] ^ 1 << rng.below(8)])))
    return data[:at] + new + data[at + len(new):], "%s at %d" % (
        new.hex(), at)


TREE = ((3, replace_field), (4, set_dtype), (6, set_number), (3, change_list),
        (2, remove_field), (4, add_field), (2, add_deep),
        (3, change_metadata), (6, change_member), (2, swap_ranges),
        (2, move_ranges), (2, change_data))
TEXT = ((4, insert_text), (2, delete_text), (3, replace_text),
        (2, special_comma), (2, around_text), (1, copy_text))
BYTES = ((2, set_length), (2, cut), (1, longer), (3, bad_byte))
EVERY = [(layer, fault) for layer, rows in enumerate((TREE, TEXT, BYTES))
         for weight, fault in rows for _ in range(weight)]


class Mutants:
    def __init__(self, seed):
        self.seed = seed

    def make(self, index):
        """(bytes, number of faults, what was done)"""
        rng = Rng(self.seed, "safetensors", index)
        f = File(rng)
        count = rng.pick((0,) + (1,) * 12 + (2,) * 5 + (3,) * 2 + (5,))
        chosen = [rng.pick(EVERY) for _ in range(count)]
        done = [fault(rng, f) for layer, fault in chosen if layer == 0]
        text = Writer(rng).write(f.root) + f.suffix
        for _, fault in (c for c in chosen if c[0] == 1):
            text, what = fault(rng, text)
            done.append(what)
        header = text.encode("utf-8", "surrogatepass")
        data = struct.pack("<Q", len(header)) + header + f.data
        for _, fault in (c for c in chosen if c[0] == 2):
            data, what = fault(rng, data)
            done.append(what)
        done = [what for what in done if what]
        return data, len(done), done
