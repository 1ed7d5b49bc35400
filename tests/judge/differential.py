#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds ckverify against the judge on mutants, COUNT of them from FIRST on.

A mutant is named by SEED and its number: --first N --count 1 --keep DIR makes
one of them again.  Compared are the verdict, the exit status, the kind of the
primary finding, the check it stands for and the record it names; the answers
come from batches of files, with --first in every eighth batch, and for some of
the mutants from a pipe as well.  Exit status 1 if anything disagrees.
Files named on the command line are compared instead of mutants.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import checkpoints
from judge import judge
from mutants import Mutants

EXITS = {"valid": 0, "invalid": 1, "unsupported": 3}
# What a loader of a file can stop with. The format has further kinds, but no
# check that ends in them.
KINDS = """InvalidMagic UnsupportedVersion UnsupportedEndianness
    UnsupportedTokenizerLayout UnsupportedRngAlgorithm Truncated FileExtent
    ChecksumMismatch UnknownTokenizerKind UnknownDType UnknownTensorRole
    InvalidUtf8 SizeOverflow VocabularyMismatch StepMismatch OptimizerNames
    OptimizerShape Tokenizer Layout NonCanonical Model Tensor Initialization
    Bpe AdamW AdamWState""".split()
CHECKS = ["A%d" % i for i in range(1, 7)] + ["B"] + [
    "B%d" % i for i in range(1, 11)] + [
    "C%d" % i for i in range(1, 8)] + ["D%d" % i for i in range(1, 8)] + [
    "E%d" % i for i in range(1, 6)] + ["6.1", "6.6"] + [
    "F%d" % i for i in range(1, 8)] + ["G%d" % i for i in range(1, 6)]


class Tool:
    def __init__(self, folder):
        self.path = os.path.join(folder, "ckverify")
        self.checks, self.primaries = {}, Counter()

    def run(self, *arguments, **options):
        return subprocess.run([self.path, *arguments], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=280, **options)

    def check_of(self, rule):
        """The name that the format's list of checks has for a rule."""
        if rule not in self.checks:
            page = self.run("--explain", rule).stdout.decode()
            found = re.search(r"^  check: (\S+)$", page, re.MULTILINE)
            self.checks[rule] = found and found.group(1)
        return self.checks[rule]

    def answers(self, done, wanted):
        """{path: object} of one run, and what is wrong with the run."""
        objects, worst = {}, 0
        for line in done.stdout.splitlines():
            o = json.loads(line)
            objects[o["file"]["path"]] = o
            worst = max(worst, o["exit_code"])
        wrong = []
        if done.returncode != worst or len(objects) != wanted or done.stderr:
            wrong.append("exit %d, %d of %d answers, said %r" % (
                done.returncode, len(objects), wanted, done.stderr[-300:]))
        return objects, wrong

    def differences(self, wanted, o):
        """In words; empty if the tool says what the judge says."""
        if o is None:
            return ["no answer"]
        primary = o["primary"] or {}
        self.primaries[primary.get("rule")] += 1
        where = re.match(r"records\[(\d+)\]", primary.get("path") or "")
        pairs = [("verdict", wanted.verdict, o["verdict"]),
                 ("exit", EXITS[wanted.verdict], o["exit_code"]),
                 ("kind", wanted.kind, primary.get("seed_kind")),
                 ("check", wanted.check, primary and self.check_of(
                     primary["rule"]) or None)]
        if wanted.record is not None:
            pairs.append(("record", wanted.record,
                          where and int(where.group(1))))
        return ["%s: judge %s, ckverify %s" % (name, want, got)
                for name, want, got in pairs if want != got]


class Comparison:
    def __init__(self, options, tool):
        self.options, self.tool = options, tool
        self.kinds, self.checks = Counter(), Counter()
        self.several = self.piped = self.compared = self.bad = 0
        self.planted = 0

    def plant(self, index, answer):
        """Every so many, what the judge said is falsified, so that a run can
        be seen to find that."""
        if not self.options.plant or index % self.options.plant:
            return answer
        self.planted += 1
        turn = index // self.options.plant % 3
        if turn == 0:
            return answer._replace(
                verdict="invalid" if answer.verdict == "valid" else "valid")
        return answer._replace(**{("kind", "check")[turn - 1]: "planted"})

    def say(self, index, differences, done):
        self.bad += 1
        print("DISAGREE %s:%s: %s\n  made from %s" % (
            self.options.seed, index, "; ".join(differences),
            "\n  ".join(done)))

    def batch(self, mutants, number, indices):
        expected = {}
        folder = tempfile.mkdtemp(prefix="mutants-")
        for index in indices:
            data, faults, done = mutants.make(index)
            path = os.path.join(folder, "%d" % index)
            with open(path, "wb") as f:
                f.write(data)
            answer = judge(data)
            self.kinds[answer.kind] += 1
            self.checks[answer.check] += 1
            self.several += faults > 1
            expected[path] = index, self.plant(index, answer), done
            if index % self.options.pipe == self.options.pipe - 1:
                self.pipe(index, expected[path][1], data, done)
        only_first = ["--first"] if number % 8 == 7 else []
        done = self.tool.run("--format=jsonl", *only_first, *expected)
        objects, wrong = self.tool.answers(done, len(expected))
        if wrong:
            self.say("%d to %d" % (indices[0], indices[-1]), wrong, [])
        for path, (index, answer, done) in expected.items():
            self.compared += 1
            differences = self.tool.differences(answer, objects.get(path))
            if differences:
                self.say(index, differences, done)
            if self.options.keep and (
                    differences or self.options.count == 1):
                os.makedirs(self.options.keep, exist_ok=True)
                shutil.copy(path, self.options.keep)
        shutil.rmtree(folder)

    def files(self, paths):
        """Compares files as they are; true if all agree."""
        run = self.tool.run("--format=jsonl", "--", *paths)
        objects, wrong = self.tool.answers(run, len(paths))
        for path in paths:
            with open(path, "rb") as f:
                answer = judge(f.read())
            found = self.tool.differences(answer, objects.get(path))
            wrong += ["%s: %s" % (path, "; ".join(found))] if found else []
        print("\n".join(wrong + ["%d files, %d disagreements" % (
            len(paths), len(wrong))]))
        return not wrong

    def pipe(self, index, answer, data, done):
        self.piped += 1
        run = self.tool.run("--format=jsonl", "-", input=data)
        objects, wrong = self.tool.answers(run, 1)
        differences = wrong + self.tool.differences(
            answer, next(iter(objects.values()), None))
        if differences:
            self.say("%d from a pipe" % index, differences, done)

    def rules(self):
        """How often each rule of this format was the primary one."""
        listed = self.tool.run("--list-rules").stdout.decode().split("\n")
        rules = [line.split()[0] for line in listed if line]
        rules = [r for r in rules if self.tool.check_of(r) in CHECKS]
        print("primary rule: %s" % ", ".join(
            "%s %d" % (r, self.tool.primaries[r]) for r in rules))
        print("rules never primary: %s" % (", ".join(
            r for r in rules if not self.tool.primaries[r]) or "none"))

    def summary(self):
        """True if all agree and enough was tried."""
        o = self.options
        print("seed %s, mutants %d to %d: %d with two or more faults, "
              "%d also from a pipe" % (o.seed, o.first,
                                       o.first + o.count - 1, self.several,
                                       self.piped))
        for title, counter, names in (("kind", self.kinds, KINDS),
                                      ("check", self.checks, CHECKS)):
            counted = ["valid %d" % counter[None]]
            counted += ["%s %d" % (name, counter[name]) for name in names]
            print("primary %s: %s" % (title, ", ".join(counted)))
        if o.rules:
            self.rules()
        absent = [k for k in KINDS if not self.kinds[k]]
        unknown = set(self.kinds) - set(KINDS) - {None}
        unknown |= set(self.checks) - set(CHECKS) - {None}
        if absent:
            print("never primary: %s" % ", ".join(absent))
        if unknown:
            print("not in the list of kinds and checks: %s" % unknown)
        print("%d compared, %d planted, %d disagreements" % (
            self.compared, self.planted, self.bad))
        enough = self.compared == o.count and not unknown
        if o.all_kinds:
            enough = enough and not absent and 4 * self.several >= o.count
        return enough and not self.bad


def bases(folder):
    """Files of a folder that the judge calls valid, and that are small."""
    found = []
    for name in sorted(os.listdir(folder)) if folder else ():
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        if judge(data).verdict == "valid" and len(data) < 30000:
            found.append(checkpoints.parse(name, data))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("files", nargs="*", metavar="FILE")
    p.add_argument("--bin", default="build/release", help="of ckverify")
    p.add_argument("--seed", default="1")
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--batch", type=int, default=250)
    p.add_argument("--pipe", type=int, default=97, metavar="N",
                   help="every N-th mutant from a pipe as well")
    p.add_argument("--bases", help="folder of further files to damage")
    p.add_argument("--keep", help="folder for the mutants that disagree")
    p.add_argument("--plant", type=int, default=0, metavar="N",
                   help="falsify what the judge says of every N-th")
    p.add_argument("--rules", action="store_true",
                   help="count the rules as well")
    p.add_argument("--all-kinds", action="store_true",
                   help="fail unless each kind occurs and a quarter of the "
                        "mutants has two or more faults")
    o = p.parse_args()
    tool = Tool(os.path.abspath(o.bin))
    if o.files:
        sys.exit(not Comparison(o, tool).files(o.files))
    others = bases(o.bases)
    if o.bases and not others:
        sys.exit("differential: no valid file in " + o.bases)
    mutants = Mutants(o.seed, others)
    comparison = Comparison(o, tool)
    last = o.first + o.count
    for number, start in enumerate(range(o.first, last, o.batch)):
        comparison.batch(mutants, number,
                         range(start, min(start + o.batch, last)))
    sys.exit(not comparison.summary())


if __name__ == "__main__":
    main()
