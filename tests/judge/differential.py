#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds ckverify against a judge on mutants, COUNT of them from FIRST on.

A mutant is named by SEED and its number: --first N --count 1 --keep DIR makes
one of them again.  subjects.py says what is compared.  The answers come from
batches of files, with --first in every eighth batch, and for some of the
mutants from a pipe as well.  Exit status 1 if anything disagrees.  Files named
on the command line are compared instead of mutants.
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

from subjects import SUBJECTS


class Tool:
    def __init__(self, folder):
        self.path = os.path.join(os.path.abspath(folder), "ckverify")
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

    def answers(self, wanted, *arguments, **options):
        """{path: object} of one run, and what is wrong with the run."""
        run = self.run("--format=jsonl", *arguments, **options)
        objects, worst = {}, 0
        for line in run.stdout.splitlines():
            o = json.loads(line)
            objects[o["file"]["path"]] = o
            worst = max(worst, o["exit_code"])
            self.primaries[(o["primary"] or {}).get("rule")] += 1
        wrong = []
        if run.returncode != worst or len(objects) != wanted or run.stderr:
            wrong.append("exit %d, %d of %d answers, said %r" % (
                run.returncode, len(objects), wanted, run.stderr[-300:]))
        return objects, wrong


class Comparison:
    def __init__(self, options):
        self.options, self.tool = options, Tool(options.bin)
        self.subject = SUBJECTS[options.subject](options.seed, options.bases)
        self.several = self.piped = self.compared = 0
        self.planted = self.bad = 0

    def plant(self, index, answers):
        """Of every so many the first of what the judge says is falsified, so
        that a run can be seen to find that."""
        if not self.options.plant or index % self.options.plant:
            return answers
        self.planted += 1
        turn = index // self.options.plant
        return [self.subject.falsify(answers[0], turn)] + answers[1:]

    def differences(self, answer, o):
        """In words; empty if the tool says what the judge says."""
        if o is None:
            return ["no answer"]
        return self.subject.differences(self.tool, answer, o)

    def say(self, name, differences, done):
        self.bad += 1
        print("DISAGREE %s:%s: %s\n  made from %s" % (
            self.options.seed, name, "; ".join(differences),
            "\n  ".join(done)))

    def batch(self, number, indices):
        folder = tempfile.mkdtemp(prefix="mutants-")
        expected = {}
        for index in indices:
            data, faults, done = self.subject.mutants.make(index)
            path = os.path.join(folder, str(index))
            with open(path, "wb") as f:
                f.write(data)
            answers = self.plant(index, self.subject.judge(data))
            self.several += faults > 1
            expected[path] = index, answers, done
            if self.options.count == 1:
                self.keep(path)
                print("\n  ".join(["made from"] + done))
            # A pipe through which nothing came says nothing of any file.
            if data and index % self.options.pipe == self.options.pipe - 1:
                self.pipe(index, answers, data, done)
        first = ["--first"] if number % 8 == 7 else []
        for at, profile in enumerate(self.subject.profiles):
            self.profile(at, [*first, *profile], expected)
        self.compared += len(expected)
        shutil.rmtree(folder)

    def profile(self, at, arguments, expected):
        objects, wrong = self.tool.answers(len(expected), *arguments,
                                           *expected)
        words = " ".join(arguments)
        if wrong:
            self.say("batch %s" % words, wrong, sorted(expected)[:1])
        for path, (index, answers, done) in expected.items():
            found = self.differences(answers[at], objects.get(path))
            if found:
                self.say("%d %s" % (index, words), found, done)
                self.keep(path)

    def pipe(self, index, answers, data, done):
        self.piped += 1
        for answer, profile in zip(answers, self.subject.profiles):
            objects, wrong = self.tool.answers(1, *profile, "-", input=data)
            found = wrong + self.differences(
                answer, next(iter(objects.values()), None))
            if found:
                self.say("%d from a pipe" % index, found, done)

    def keep(self, path):
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            shutil.copy(path, self.options.keep)

    def files(self, paths):
        """Compares files as they are; true if all agree."""
        bad = []
        for at, profile in enumerate(self.subject.profiles):
            objects, wrong = self.tool.answers(len(paths), *profile, "--",
                                               *paths)
            bad += wrong
            for path in paths:
                with open(path, "rb") as f:
                    answer = self.subject.judge(f.read())[at]
                found = self.differences(answer, objects.get(path))
                bad += ["%s: %s" % (path, "; ".join(found))] if found else []
        print("\n".join(bad + ["%d files, %d disagreements" % (len(paths),
                                                               len(bad))]))
        return not bad

    def rules(self):
        """How often each rule of this format was the primary one."""
        listed = self.tool.run("--list-rules").stdout.decode().split("\n")
        rules = [line.split()[0] for line in listed if " error " in line]
        rules = [r for r in rules
                 if self.subject.owns(self.tool.check_of(r))]
        print("primary rule: %s" % ", ".join(
            "%s %d" % (r, self.tool.primaries[r]) for r in rules))
        print("rules never primary: %s" % (", ".join(
            r for r in rules if not self.tool.primaries[r]) or "none"))

    def summary(self):
        """True if all agree and what was asked for was tried."""
        o = self.options
        print("%s, seed %s, mutants %d to %d: %d with two or more faults, "
              "%d also from a pipe" % (o.subject, o.seed, o.first, o.first
                                       + o.count - 1, self.several,
                                       self.piped))
        absent, unknown = [], set()
        for title, counter, names in self.subject.counts():
            print("primary %s: %s" % (title, ", ".join(
                "%s %d" % (name, counter[name]) for name in names)))
            absent += [name for name in names if not counter[name]]
            unknown |= set(counter) - set(names)
        if o.rules:
            self.rules()
        if absent:
            print("never seen: %s" % ", ".join(absent))
        if unknown:
            print("not in the lists: %s" % ", ".join(sorted(unknown)))
        print("%d compared, %d planted, %d disagreements" % (
            self.compared, self.planted, self.bad))
        enough = self.compared == o.count and not unknown
        if o.all:
            enough = enough and not absent and 4 * self.several >= o.count
        return enough and not self.bad

    def mutants(self):
        o = self.options
        last = o.first + o.count
        for number, start in enumerate(range(o.first, last, o.batch)):
            self.batch(number, range(start, min(start + o.batch, last)))
            if o.progress:
                print("%d, %d disagreements" % (start + o.batch, self.bad),
                      file=sys.stderr)
        return self.summary()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("files", nargs="*", metavar="FILE")
    p.add_argument("--subject", choices=sorted(SUBJECTS), default="llmcp35")
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
    p.add_argument("--all", action="store_true",
                   help="fail unless each answer occurs and a quarter of the "
                        "mutants has two or more faults")
    p.add_argument("--progress", action="store_true")
    o = p.parse_args()
    comparison = Comparison(o)
    good = comparison.files(o.files) if o.files else comparison.mutants()
    sys.exit(not good)


if __name__ == "__main__":
    main()
