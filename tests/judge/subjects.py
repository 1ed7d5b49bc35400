# SPDX-License-Identifier: MIT
"""The formats that differential.py compares: how mutants of one are made, what
its judge says of them, and what of that ckverify's answer has to be."""
import os
import re
from collections import Counter

import checkpoints
import judge
import judge_safetensors
import mutants
import mutants_safetensors

EXITS = {"valid": 0, "invalid": 1, "unsupported": 3}
# What a loader of a file can stop with. The format has further kinds, but no
# check that ends in them.
KINDS = """InvalidMagic UnsupportedVersion UnsupportedEndianness
    UnsupportedTokenizerLayout UnsupportedRngAlgorithm Truncated FileExtent
    ChecksumMismatch UnknownTokenizerKind UnknownDType UnknownTensorRole
    InvalidUtf8 SizeOverflow VocabularyMismatch StepMismatch OptimizerNames
    OptimizerShape Tokenizer Layout NonCanonical Model Tensor Initialization
    Bpe AdamW AdamWState""".split()
# E6 is two lists of their own. What is read in B1 to B10 may also be cut (B).
CHECKS = ("A1 A2 A3 A4 A5 A6 B B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 C1 C2 C3 C4 C5 "
          "C6 C7 D1 D2 D3 D4 D5 D6 D7 E1 E2 E3 E4 E5 6.1 6.6 F1 F2 F3 F4 F5 "
          "F6 F7 G1 G2 G3 G4 G5").split()


def differing(pairs):
    return ["%s: judge %s, ckverify %s" % pair for pair in pairs
            if pair[1] != pair[2]]


def verdicts(answer, o):
    return [("verdict", answer.verdict, o["verdict"]),
            ("exit", EXITS[answer.verdict], o["exit_code"])]


def other_verdict(answer):
    return answer._replace(
        verdict="invalid" if answer.verdict == "valid" else "valid")


class Llmcp35:
    """Verdict, kind, check and record."""

    profiles = ((),)

    def __init__(self, seed, folder):
        others = list(self.parsed(folder)) if folder else []
        if folder and not others:
            raise SystemExit("no valid file in " + folder)
        self.mutants = mutants.Mutants(seed, others)
        self.kinds, self.checks = Counter(), Counter()

    @staticmethod
    def parsed(folder):
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            if judge.judge(data).verdict == "valid" and len(data) < 30000:
                yield checkpoints.parse(name, data)

    def judge(self, data):
        answer = judge.judge(data)
        self.kinds[answer.kind or "valid"] += 1
        self.checks[answer.check or "valid"] += 1
        return [answer]

    @staticmethod
    def falsify(answer, turn):
        if turn % 3 == 0:
            return other_verdict(answer)
        return answer._replace(**{("kind", "check")[turn % 3 - 1]: "planted"})

    @staticmethod
    def differences(tool, answer, o):
        primary = o["primary"] or {}
        where = re.match(r"records\[(\d+)\]", primary.get("path") or "")
        check = tool.check_of(primary["rule"]) if primary else None
        pairs = verdicts(answer, o) + [
            ("kind", answer.kind, primary.get("seed_kind")),
            ("check", answer.check, check)]
        if answer.record is not None:
            pairs.append(("record", answer.record,
                          where and int(where.group(1))))
        return differing(pairs)

    def counts(self):
        return (("kind", self.kinds, ["valid"] + KINDS),
                ("check", self.checks, ["valid"] + CHECKS))

    @staticmethod
    def owns(check):
        return check in CHECKS


class Safetensors:
    """The verdict under both profiles, and the family of the rule."""

    profiles = ((), ("--profile=reference",))

    def __init__(self, seed, _folder):
        self.mutants = mutants_safetensors.Mutants(seed)
        self.pairs = Counter()

    def judge(self, data):
        answers = [judge_safetensors.judge(data, profile)
                   for profile in (False, True)]
        self.pairs["/".join(a.verdict for a in answers)] += 1
        return answers

    @staticmethod
    def falsify(answer, turn):
        if turn % 2 == 0 or answer.verdict == "valid":
            return other_verdict(answer)
        return answer._replace(families={9})

    @staticmethod
    def differences(_tool, answer, o):
        pairs = verdicts(answer, o)
        if o["primary"] and answer.verdict == o["verdict"]:
            family = int(o["primary"]["rule"][2])
            if family not in answer.families:
                pairs.append(("family", sorted(answer.families), family))
        return differing(pairs)

    def counts(self):
        return (("verdict, strict/reference", self.pairs,
                 ["valid/valid", "invalid/invalid", "invalid/valid",
                  "unsupported/unsupported", "invalid/unsupported"]),)

    @staticmethod
    def owns(check):
        return check in ("length", "json", "keys", "records", "dtype", "sizes",
                         "tiling", "end")


SUBJECTS = {"llmcp35": Llmcp35, "safetensors": Safetensors}
