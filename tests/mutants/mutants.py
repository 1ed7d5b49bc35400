#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing of the rules.

    tests/mutants/mutants.py prepare SCRATCH [--judges|--golden]
                                               copy the tree, rewrite, build
    tests/mutants/mutants.py baseline SCRATCH [-j N] [TEST ...]
                                               every test case once: what it sees
    tests/mutants/mutants.py run SCRATCH [-j N] [--first] [--again] [--only=TEST]
                                               [PATTERN ...]
    tests/mutants/mutants.py report SCRATCH    the kill table, and what survives

A mutant is a condition forced true (T), forced false (F) or inverted (N), an
order with its boundary moved (B), a code replaced by its neighbour (C), a unit
or sub of a rank set to 0 (U), or a row of a table changed (R): see sites.py
and rows.py. All are in one build and chosen by the environment (mutant.h), so
that one compilation does for thousands. A test case is run against a mutant
only if it has seen the condition take a value that the mutant changes.

SCRATCH/kills.tsv grows as mutants are tried; run goes on where it stopped,
with --first after the likeliest tests only, with --again over survivors too.
equivalent.tsv holds, one a line and with the reason, the mutants that change
nothing. Run by hand; needs what `make check` needs.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import rows as tables  # noqa: E402
import sites as found  # noqa: E402

FIRST = 40  # tests that a mutant meets with --first
PER_FILE = 2000
MOST = 1 << 18
BIN = "build/release"
TRUE, FALSE, EDGE = 1, 2, 4
# What judges files, first; what shows them, later.
JUDGES = re.compile(
    r"test_(archive|corpus|diag|document|foreign|forge|json|llmcp35|load|"
    r"mutate|out_of_memory|pairs|params|path|portable|rule_edges|run_limits|safetensors|set|spans|"
    r"reader|source|synth|utf8|value|walk|emit|report|inspect|tokenizer)")
# Written from the tables: they notice a changed row and prove nothing by it.
PAPER = re.compile(r"test_(manual|mdoc|opt|html)|man\.sh|/ckverify_rules")


# ---- the mutants -----------------------------------------------------------

class Mutant:
    def __init__(self, number, op, file, line, function, kind, text, nth):
        self.number, self.op, self.file, self.line = number, op, file, line
        self.kind, self.text, self.function = kind, text, function
        # Stays the same when lines around it change.
        self.key = "\t".join((file, function, kind, text, str(nth), op))


def constant(text, a, at):
    """Whether at is inside the initialiser of something static."""
    start = text.rfind("static const ", a, at)
    brace = text.find("= {", start) if start >= 0 else -1
    return brace >= 0 and at < found.close(text, brace + 2)


def span_sites(top):
    """Sites of conditions, codes and units, by file."""
    by_file = collections.defaultdict(list)
    for s in found.sites(top):
        by_file[s.file].append(s)
    for fn in found.scope(top):
        f, text = fn.file, fn.file.masked
        for m in re.compile(r"\bCKPT_D_(?!COUNT)\w+").finditer(text, fn.body, fn.end):
            if re.search(r"\bcase\s+$", text[:m.start()][-20:]) or constant(
                    text, fn.body, m.start()):
                continue
            s = found.Site(fn, "code", m.start(), m.end(), False, False)
            by_file[s.file].append(s)
        for m in re.compile(r"\.(?:unit|sub)\s*=\s*").finditer(text, fn.body, fn.end):
            end = found.statement_end(text, m.end(), fn.end)
            if text[m.end() - 2:m.end()] == "==" or text[m.end():end].strip() == "0":
                continue
            s = found.Site(fn, "unit", *found.trim(text, m.end(), end), False, False)
            by_file[s.file].append(s)
    for path in by_file:
        by_file[path].sort(key=lambda s: (s.a, -s.b))
    return dict(sorted(by_file.items()))


def number_sites(by_file, names):
    """Gives every site its number; files keep theirs by a stored list."""
    for path in by_file:
        if path not in names:
            names.append(path)
    out = []
    for path, list_of in by_file.items():
        base, nth = (names.index(path) + 1) * PER_FILE, collections.Counter()
        assert len(list_of) < PER_FILE
        for i, s in enumerate(list_of):
            s.number = base + i
            key = (s.fn.name, s.kind, s.text)
            nth[key] += 1
            ops = {"code": "C", "unit": "U"}.get(s.kind) or s.ops()
            out += [Mutant(s.number, op, path, s.line, s.fn.name, s.kind, s.text,
                           nth[key]) for op in ops]
    return out


def render(f, list_of, a, b, codes):
    """The text of f from a to b with the macros around its sites."""
    out, at = [], a
    for i, s in enumerate(list_of):
        if s.a < at or s.b > b or s.a < a:
            continue
        inner = [x for x in list_of if x is not s and x.a >= s.a and x.b <= s.b
                 and not (x.a == s.a and x.b == s.b and list_of.index(x) < i)]
        out.append(f.text[at:s.a])
        out.append(wrap(f, s, inner, codes))
        at = s.b
    out.append(f.text[at:b])
    return "".join(out)


def wrap(f, s, inner, codes):
    whole = render(f, inner, s.a, s.b, codes)
    if s.kind == "code":
        return f"CKPT_MC({s.number}, {s.text}, {codes[s.text]})"
    if s.kind == "unit":
        return f"CKPT_MU({s.number}, {whole})"
    if not s.relation:
        return f"CKPT_M({s.number}, {whole})"
    p, q, other = s.relation
    left = render(f, inner, s.a, p, codes)
    right = render(f, inner, q, s.b, codes)
    plain = not re.search(r"\+\+|--|[^=!<>]=[^=]|\(", f.masked[s.a:s.b])
    edge = f"({left}) == ({right})" if plain else "true"
    return (f"CKPT_MB({s.number}, {edge}, ({left}) {other} ({right}), {whole})")


def neighbours(definitions):
    """Each code's neighbour of the same severity."""
    by = collections.defaultdict(list)
    for name, _, severity, *_ in tables.ROW.findall(definitions):
        by[severity].append("CKPT_D_" + name)
    return {c: l[(i + 1) % len(l)] for l in by.values() for i, c in enumerate(l)}


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def all_mutants(scratch):
    by_file = span_sites(TOP)
    names_at = os.path.join(scratch, "files.json")
    names = json.load(open(names_at)) if os.path.exists(names_at) else []
    mutants = number_sites(by_file, names)
    os.makedirs(scratch, exist_ok=True)
    json.dump(names, open(names_at, "w"))
    table = tables.rows(read)
    mutants += [Mutant(n, "R", path, 0, "-", "row", key, 1)
                for path, n, key, _ in table]
    return by_file, table, mutants


# ---- the scratch copy ------------------------------------------------------

def write_if_other(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def targets(tree):
    """What to build: --judges leaves the other tests out, --golden all but the
    tools and two of them."""
    if "--golden" in sys.argv:
        return ["all"] + [f"{BIN}/test_{t}" for t in ("corpus_findings", "rule_edges")]
    if "--judges" not in sys.argv:
        return ["all", "tests"]
    return ["all"] + [f"{BIN}/{p[:-2]}" for p in
                      sorted(os.listdir(os.path.join(tree, "tests/unit")))
                      if JUDGES.match(p) and not PAPER.search(p)]


def prepare(scratch):
    tree = os.path.join(scratch, "tree")
    by_file, table, mutants = all_mutants(scratch)
    codes = neighbours(read("src/diag/diag.def"))
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                            cwd=TOP, check=True, capture_output=True, text=True)
    sources = {os.path.relpath(os.path.join(TOP, p), TOP)
               for p in listed.stdout.splitlines()}
    for path in sorted(sources):
        src, dst = os.path.join(TOP, path), os.path.join(tree, path)
        if not os.path.exists(src):
            continue
        mine = [x[1:] for x in table if x[0] == path]
        if path in by_file or mine or path in tables.HEADERS:
            f = found.File(src)
            text = f.text
            if path in by_file:
                text = render(f, by_file[path], 0, len(text), codes)
            write_if_other(dst, tables.rewrite(path, text, mine))
        elif not (os.path.exists(dst) and
                  open(src, "rb").read() == open(dst, "rb").read()):
            os.makedirs(os.path.dirname(dst), exist_ok=True)
            shutil.copy2(src, dst, follow_symlinks=False)
            if not os.path.islink(dst):
                os.utime(dst)
    for folder, _, files in os.walk(tree):
        rel = os.path.relpath(folder, tree)
        if rel.startswith(("build", ".git")):
            continue
        for name in files:
            path = os.path.normpath(os.path.join(rel, name))
            if path not in sources and path.startswith(("src", "tests", "corpus")):
                os.remove(os.path.join(folder, name))
    shutil.copy2(os.path.join(HERE, "mutant.h"), scratch)
    write_if_other(os.path.join(tree, "src/base/mutant.c"),
                   read("tests/mutants/mutant.c"))
    subprocess.run(["make", "-j2", "-k", "CFLAGS=-O1 -w", "CPPFLAGS=-include " +
                    os.path.join(os.path.abspath(scratch), "mutant.h"),
                    *targets(tree)],
                   cwd=tree, check=True)
    print(len(mutants), "mutants at", sum(map(len, by_file.values())),
          "places and in", len(table), "rows")


# ---- running a test --------------------------------------------------------

class Test:
    """One case of a program, a whole program, or a script."""

    def __init__(self, name, case=None, cpu=0.0, wall=0.0):
        self.name, self.case, self.cpu, self.wall = name, case, cpu, wall
        self.tries = self.kills = 0

    @property
    def label(self):
        return self.name + (":" + self.case if self.case else "")

    def cost(self, mutant):
        """Of a kill by this test, as far as is known."""
        hope = 6 if (self.name.startswith("test_corpus") or any(
            w in self.name for w in re.findall(r"[a-z0-9]{4,}", mutant.file[4:-2])
            if w != "format")) else 0.5
        return (self.cpu + 0.03) * (self.tries + 8) / (self.kills + hope)


def environment(scratch, test, tmp):
    tree = os.path.abspath(os.path.join(scratch, "tree"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("CKPT_")}
    env.update(LC_ALL="C", CMOCKA_MESSAGE_OUTPUT="STDOUT", MODE="release",
               BIN=os.path.join(tree, BIN), TMPDIR=tmp,
               CKPT_MUTANT_SECONDS=str(int(2 + 5 * test.cpu)))
    if test.case:
        env["CKPT_MUTANT_TEST"] = test.case
    command = (["bash", test.name] if test.name.endswith(".sh")
               else [os.path.join(BIN, test.name)])
    return dict(args=command, cwd=tree, env=env)


def temporary(scratch):
    return tempfile.mkdtemp(dir=os.path.abspath(os.path.join(scratch, "tmp")))


def remove(folder):
    subprocess.run(["chmod", "-R", "u+rwx", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def run_test(scratch, test, mutant=None, seen=None):
    """(exit status, output, processor seconds, seconds)."""
    tmp = temporary(scratch)
    how = environment(scratch, test, tmp)
    if mutant:
        how["env"]["CKPT_MUTANT"] = f"{mutant.number}:{mutant.op}"
    else:
        del how["env"]["CKPT_MUTANT_SECONDS"]
    if seen:
        how["env"]["CKPT_MUTANT_SEEN"] = os.path.abspath(seen)
    start, late = time.time(), []
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, start_new_session=True, **how)

        def stop():
            late.append(True)
            os.killpg(p.pid, 9)
        timer = threading.Timer(120 + 60 * test.wall if mutant else 900, stop)
        timer.start()
        # The processor time of this child and its children, and of no other.
        _, status, usage = os.wait4(p.pid, 0)
        timer.cancel()
        p.returncode = status = os.waitstatus_to_exitcode(status)
        try:
            os.killpg(p.pid, 9)
        except ProcessLookupError:
            pass
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    remove(tmp)
    return ("slow" if late else status, text, usage.ru_utime + usage.ru_stime,
            time.time() - start)


class Server:
    """A program that was started and waits for mutants (mutant.c)."""

    def __init__(self, scratch, test):
        self.tmp, self.wall = temporary(scratch), test.wall
        how = environment(scratch, test, self.tmp)
        how["env"]["CKPT_MUTANT_SERVER"] = "1"
        self.p = subprocess.Popen(stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, bufsize=1,
                                  start_new_session=True, **how)

    def ask(self, mutant):
        self.p.stdin.write(f"{mutant.number}:{mutant.op}\n")
        self.p.stdin.flush()
        pid, late = int(self.p.stdout.readline()), []

        def stop():
            late.append(True)
            os.killpg(pid, 9)
        timer = threading.Timer(120 + 60 * self.wall, stop)
        timer.start()
        status = int(self.p.stdout.readline())
        timer.cancel()
        return "slow" if late else status

    def end(self):
        self.p.stdin.close()
        self.p.wait()
        remove(self.tmp)


class Servers:
    """Those that wait, by test."""

    def __init__(self, scratch):
        self.scratch, self.idle = scratch, collections.defaultdict(list)

    def ask(self, test, mutant):
        if "/" in test.name:
            return run_test(self.scratch, test, mutant)[0]
        try:
            server = self.idle[test.label].pop()
        except IndexError:
            server = Server(self.scratch, test)
        status = server.ask(mutant)
        self.idle[test.label].append(server)
        return status

    def end(self):
        for list_of in self.idle.values():
            for server in list_of:
                server.end()


# ---- what every test sees --------------------------------------------------

def cases_of(tree, program):
    with open(os.path.join(tree, "tests/unit", program + ".c"), encoding="utf-8") as f:
        return re.findall(r"\b(?:cmocka_unit_test\w*|[A-Z_]*TEST)\(\s*(test_\w+)",
                          f.read())


def baseline(scratch, jobs, patterns):
    """Judges by their cases; with patterns what they name, others and scripts
    as a whole."""
    tree = os.path.join(scratch, "tree")
    for name in ("tmp", "seen"):
        os.makedirs(os.path.join(scratch, name), exist_ok=True)
    programs = sorted(p[:-2] for p in os.listdir(os.path.join(tree, "tests/unit"))
                      if p.endswith(".c"))
    scripts = sorted("tests/cli/" + p
                     for p in os.listdir(os.path.join(tree, "tests/cli")))
    todo = []
    for p in programs:
        named = any(re.search(x, p) for x in patterns)
        if JUDGES.match(p) and not PAPER.search(p) and (named or not patterns):
            todo += [Test(p, c) for c in cases_of(tree, p)]
        elif named:
            todo.append(Test(p))
    todo += [Test(s) for s in scripts if any(re.search(x, s) for x in patterns)]
    index_at = os.path.join(scratch, "tests.json")
    index = json.load(open(index_at)) if os.path.exists(index_at) else {}
    live = {t.label for t in todo}
    for label in [x for x in index if x not in live and not patterns]:
        del index[label]
    lock = threading.Lock()

    def one(test):
        path = test.name if "/" in test.name else BIN + "/" + test.name
        stamp = os.path.getmtime(os.path.join(tree, path))
        old = index.get(test.label)
        if old and old["stamp"] == stamp and "--again" not in sys.argv:
            return
        at = os.path.join(scratch, "seen", test.label.replace("/", "_"))
        with open(at, "wb") as f:
            f.truncate(MOST)
        status, text, cpu, wall = run_test(scratch, test, seen=at)
        with open(at, "rb") as f:
            data = f.read()
        os.remove(at)
        if test.case and "1 test(s) run" not in text:
            status = "not a case"
        with lock:
            index[test.label] = {
                "stamp": stamp, "status": status, "cpu": cpu, "wall": wall,
                "name": test.name, "case": test.case,
                "seen": {str(i): b for i, b in enumerate(data) if b}}
            print(test.label, status, f"{cpu:.2f} {wall:.2f}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(one, todo):
            pass
    json.dump(index, open(index_at, "w"))


def load_tests(scratch):
    """The tests that pass, with what they see; a program whose cases all pass
    alone is there by its cases."""
    index = json.load(open(os.path.join(scratch, "tests.json")))
    tests = []
    for label, x in index.items():
        if x["status"] != 0:
            print("not used, fails without a mutant:", label)
            continue
        t = Test(x["name"], x["case"], x["cpu"], x["wall"])
        t.seen = {int(i): b for i, b in x["seen"].items()}
        t.tier = (3 if PAPER.search(t.name) else 2 if "/" in t.name else
                  0 if JUDGES.match(t.name) else 1)
        tests.append(t)
    return tests


def touched(test, mutant):
    b = test.seen.get(mutant.number, 0)
    if mutant.op == "T":
        return b & FALSE
    if mutant.op == "F":
        return b & TRUE
    if mutant.op == "N":
        return b
    return b & EDGE


# ---- the campaign ----------------------------------------------------------

def read_kills(scratch):
    at = os.path.join(scratch, "kills.tsv")
    kills = {}
    if os.path.exists(at):
        with open(at, encoding="utf-8") as f:
            for line in f:
                key, _, rest = line.rstrip("\n").rpartition("\t| ")
                kills[key] = rest.split("\t")
    return kills


def try_mutant(servers, mutant, tests):
    """(what became of it, the test that noticed, the sign of it)."""
    if mutant.op == "R":
        mine = [t for t in tests if t.tier < 3]
    else:
        mine = [t for t in tests if touched(t, mutant)]
    if not mine:
        return "survived", "-", "no test sees it"
    order = sorted(mine, key=lambda t: (t.name != "test_corpus_findings", t.tier,
                                        t.cost(mutant)))
    if "--first" in sys.argv:
        order = [t for t in order if t.cpu < 2][:FIRST]
    for t in order:
        status = servers.ask(t, mutant)
        t.tries += 1
        if status == "slow":
            status = servers.ask(t, mutant)
        if status != 0:
            t.kills += 1
            how = ("hang" if status in ("slow", -9, -24) else
                   f"signal {-status}" if isinstance(status, int) and status < 0
                   else "fail")
            return "killed", t.label, how
    return ("survived", "-", f"{len(mine)} tests see it"
            if len(order) == len(mine) else f"{len(order)} of {len(mine)} tests")


def run(scratch, jobs, patterns):
    _, _, mutants = all_mutants(scratch)
    tests = load_tests(scratch)
    only = [w[7:] for w in sys.argv if w.startswith("--only=")]
    tests = [t for t in tests if not only or any(re.search(o, t.label) for o in only)]
    kills = read_kills(scratch)
    equivalent = read_equivalent()
    if patterns:
        mutants = [m for m in mutants if any(re.search(p, m.key) for p in patterns)]
    todo = [m for m in mutants if m.key not in equivalent and
            kills.get(m.key, ["survived"])[0] != "killed" and
            (m.key not in kills or "--again" in sys.argv)]
    print(f"{len(mutants)} mutants, {len(todo)} to try, {len(tests)} tests")
    todo.sort(key=lambda m: "TFNCBUR".index(m.op) // 6)
    for became, label, *_ in kills.values():  # who kills, kills again
        for t in tests:
            if t.label == label:
                t.kills, t.tries = t.kills + 1, t.tries + 1
    lock, done, servers = threading.Lock(), [0], Servers(scratch)

    def one(m):
        result = try_mutant(servers, m, tests)
        with lock:
            done[0] += 1
            out.write(m.key + "\t| " + "\t".join(result) + "\n")
            out.flush()
            if result[0] != "killed":
                print(f"{result[0]} {m.file}:{m.line} {m.op} {m.text} ({result[2]})")
            if done[0] % 100 == 0:
                print(done[0], "of", len(todo), flush=True)

    with open(os.path.join(scratch, "kills.tsv"), "a", encoding="utf-8") as out:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(one, todo):
                pass
    servers.end()


def read_equivalent():
    out = {}
    with open(os.path.join(HERE, "equivalent.tsv"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                *key, why = line.rstrip("\n").split("\t")
                out["\t".join(key)] = why
    return out


def report(scratch):
    _, _, mutants = all_mutants(scratch)
    kills, equivalent = read_kills(scratch), read_equivalent()
    table = collections.defaultdict(collections.Counter)
    by_test, left = collections.Counter(), []
    for m in mutants:
        became = kills.get(m.key, ["untried"])
        if m.key in equivalent:
            became = ["equivalent"]
        table[m.file]["all"] += 1
        table[m.file][became[0]] += 1
        if became[0] == "killed":
            by_test[became[1].split(":")[0]] += 1
        elif became[0] != "equivalent":
            left.append((m, became))
    heads = ["all", "killed", "equivalent", "survived", "untried"]
    total = collections.Counter()
    print("\t".join(["file"] + heads))
    for path in sorted(table):
        print("\t".join([path] + [str(table[path][h]) for h in heads]))
        total.update(table[path])
    print("\t".join(["all"] + [str(total[h]) for h in heads]))
    print()
    for name, n in by_test.most_common():
        print(n, name, sep="\t")
    print()
    for m, became in left:
        print(f"{became[0]} {m.file}:{m.line} {m.function} {m.op} {m.text}"
              f" ({became[-1]})")
    for key in equivalent:
        if key not in {m.key for m in mutants}:
            print("no such mutant:", key)


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    jobs = 2
    if "-j" in words:
        i = words.index("-j")
        jobs = int(words[i + 1])
        del words[i:i + 2]
    if len(words) < 2:
        sys.exit(__doc__)
    command, scratch, patterns = words[0], words[1], words[2:]
    if command in ("run", "baseline"):
        {"run": run, "baseline": baseline}[command](scratch, jobs, patterns)
    else:
        {"prepare": prepare, "report": report}[command](scratch)


if __name__ == "__main__":
    main()
