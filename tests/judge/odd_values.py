# SPDX-License-Identifier: MIT
"""Numbers, reals and names that some check may be about."""
from checkpoints import NEGATIVE_ZERO, ONE, bits
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
