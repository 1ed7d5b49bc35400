# SPDX-License-Identifier: MIT
"""Where a rule is decided: the conditions that a mutant may change.

In scope is every function that names a finding (CKPT_D_...), those of the same
file that call one, and, whatever their file, the functions that the conditions
of any of these call, and so on. Of such a function every condition counts:
of if, while, for and ?:, the value returned by a bool function, and what is
assigned to a bool. A condition is taken apart at && || ! ?: into leaves.
Not counted is plumbing: whether an allocation or an operation of ours failed,
and ?: inside the words of a finding.
"""
import glob
import os
import re

# Not about rules: memory, buffers, reading, sorting, showing.
PLUMBING_FILES = re.compile(
    r"src/(io|num|replay|forensics|view|sink)/|src/base/(?!utf8|checked|real)|"
    r"src/cli/(?!verify_(pair|set))|"
    r"src/diag/|src/format/draft|src/wire/(emit|mutate|path|literal|schema)|"
    r"_(manual|write|codec|forge|events)\.c|src/format/alias")
# All of these counts: a finding is decided without a call in a condition.
WHOLE_FILES = re.compile(
    r"src/format/json(_number|_string)?\.c|src/wire/walk\.c|"
    r"src/format/llmcp35_(tokens|values|names)\.c|src/base/utf8\.c")
NAMES_FINDING = re.compile(r"\bCKPT_D_(?!COUNT)|\bckpt_walk_report\(|"
                           r"\bckpt_want_holds\(")
# Plumbing by its words: what failed is an operation of ours.
PLUMBING = re.compile(
    r"^!?\s*\(?\s*(\w+(->|\.))*status\s*[!=]=\s*CKPT_(OK|STOP)\s*\)?$|"
    r"^!?\w+(->\w+)*(\.|->)failed$|lost\b")
REFUSED = re.compile(r"\b(ckpt_arena_\w+|ckpt_sorted\w*|malloc|calloc|realloc|"
                     r"strdup|ckpt_mutex\w*)\(")
MEMORY = re.compile(r"return\s+(ckpt_run_memory|CKPT_ENOMEM|.*_memory\()")
WORDS = re.compile(r"\b(ckpt_walk_text|ckpt_v_\w+|ckpt_set_text|printf|"
                   r"ckpt_buf_\w+|snprintf|ckpt_set_quoted|fprintf)\s*$")
WORD_FIELD = re.compile(r"\.(expected|found|note|path|off|len|count|caused_by|cause)"
                        r"\s*=\s*[^,]*$")
FUNCTION = re.compile(r"^(\w+)\(", re.M)


def mask(text):
    """text with comments, strings, characters and directives blanked out,
    every byte in its place."""
    def blank(m):
        s = m.group(0)
        keep = s[0] + "x" * (len(s) - 2) + s[-1] if s[0] in "\"'" else None
        return keep or re.sub(r"[^\n]", " ", s)
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'',
                  blank, text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*", blank, text, flags=re.M)


def close(s, at):
    """The index of the bracket that closes the one at at."""
    depth = 0
    for i in range(at, len(s)):
        if s[i] in "([{":
            depth += 1
        elif s[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("no closing bracket")


class Function:
    def __init__(self, file, name, start, body, end):
        self.file, self.name, self.start = file, name, start
        self.body, self.end = body, end
        head = file.masked[:start].rstrip("\n").rsplit("\n", 1)[-1]
        self.is_bool = re.search(r"\bbool\b", head) is not None
        self.text = file.masked[body:end]
        self.calls = set(re.findall(r"\b([a-z]\w+)\s*\(", self.text))
        # A function handed over by its name is called as well.
        self.words = set(re.findall(r"\b[a-z]\w+\b", self.text))
        self.is_static = "static" in head


class File:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.masked = mask(self.text)
        self.functions = []
        for m in FUNCTION.finditer(self.masked):
            try:
                params = close(self.masked, m.end() - 1)
            except ValueError:
                continue
            brace = re.compile(r"\s*\{").match(self.masked, params + 1)
            if brace:
                self.functions.append(Function(
                    self, m.group(1), m.start(), brace.end() - 1,
                    close(self.masked, brace.end() - 1) + 1))


def balanced(text):
    depth = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if depth < 0:
            return False
    return depth == 0


def trim(s, a, b):
    while a < b and s[a].isspace():
        a += 1
    while b > a and s[b - 1].isspace():
        b -= 1
    return a, b


def split(s, a, b, op):
    """Spans between op at depth 0."""
    out, depth, i, start = [], 0, a, a
    while i < b:
        if s[i] in "([{":
            depth += 1
        elif s[i] in ")]}":
            depth -= 1
        elif depth == 0 and s.startswith(op, i):
            out.append((start, i))
            i += len(op)
            start = i
            continue
        i += 1
    out.append((start, b))
    return out


def ternary(s, a, b):
    """The parts of COND ? X : Y at depth 0, or None."""
    parts = split(s, a, b, "?")
    if len(parts) < 2:
        return None
    cond = parts[0]
    rest, depth, i = cond[1] + 1, 0, cond[1] + 1
    nested = 0
    while i < b:
        if s[i] in "([{":
            depth += 1
        elif s[i] in ")]}":
            depth -= 1
        elif depth == 0 and s[i] == "?":
            nested += 1
        elif depth == 0 and s[i] == ":":
            if nested == 0:
                return cond, (rest, i), (i + 1, b)
            nested -= 1
        i += 1
    return None


def leaves(s, a, b, out):
    a, b = trim(s, a, b)
    if a >= b:
        return
    t = ternary(s, a, b)
    if t:
        for part in t:
            leaves(s, *part, out)
        return
    for op in ("||", "&&"):
        parts = split(s, a, b, op)
        if len(parts) > 1:
            for part in parts:
                leaves(s, *part, out)
            return
    if s[a] == "(" and close(s, a) == b - 1:
        leaves(s, a + 1, b - 1, out)
        return
    m = re.compile(r"!\s*\(").match(s, a)
    if m and close(s, m.end() - 1) == b - 1:
        leaves(s, m.end(), b - 1, out)
        return
    out.append((a, b))


def ternary_start(s, q, least):
    """Where the condition before the ? at q begins."""
    depth, i = 0, q - 1
    while i > least:
        c = s[i]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                return i + 1
            depth -= 1
        elif depth == 0:
            if c in ",;?:":
                return i + 1
            if c == "=" and s[i - 1] not in "=!<>" and s[i + 1] != "=":
                return i + 1
            if s.startswith("return", i) and not s[i - 1].isalnum():
                return i + 6
        i -= 1
    return least


LOGICAL = re.compile(r"&&|\|\||[!=]=|[^-<>=]>[^>=]|[<>]=|[^<]<[^<=]|^\s*!")


def refused(s, a, b):
    """Whether the leaf says that an allocation just made was refused."""
    m = re.fullmatch(r"!\s*((?:\w+(?:->|\.))*\w+)", s[a:b])
    back = m and re.compile(r"\b%s\s*=\s*([^;=]*);[^;{}]*$"
                            % re.escape(m.group(1))).search(s, a - 400 if a > 400 else 0, a)
    return bool(back and REFUSED.search(back.group(1)))


def conditions(fn):
    """(kind, start, end) of every condition of a function."""
    s, a, e = fn.file.masked, fn.body, fn.end
    found = {}
    for m in re.compile(r"\b(if|while|for)\s*\(").finditer(s, a, e):
        shut = close(s, m.end() - 1)
        span = (m.end(), shut)
        if m.group(1) == "for":
            parts = split(s, m.end(), shut, ";")
            if len(parts) != 3:
                continue
            span = parts[1]
        span = trim(s, *span)
        if span[0] < span[1]:
            after = s[shut + 1:shut + 160]
            if m.group(1) == "if" and MEMORY.match(after.lstrip(" \n\t{")):
                continue
            found[span] = m.group(1)
    for m in re.compile(r"\?").finditer(s, a, e):
        start = ternary_start(s, m.start(), a)
        span = trim(s, start, m.start())
        back = s[a:span[0]]
        t = ternary(s, span[0], statement_end(s, m.start(), e))
        codes = t and "CKPT_D_" in s[t[1][0]:t[2][1]]
        if not codes and in_words(back):
            continue
        found.setdefault(span, "?:")
    for m in re.compile(r"\breturn\b([^;]*);").finditer(s, a, e):
        if fn.is_bool:
            span = trim(s, *m.span(1))
            if s[slice(*span)] not in ("true", "false"):
                found.setdefault(span, "return")
    for m in re.compile(r"[^=!<>]=([^=;{}][^;{}]*);").finditer(s, a, e):
        span = trim(s, *m.span(1))
        text = s[slice(*span)]
        if not balanced(text):
            continue
        depth0 = re.sub(r"->", ".", text)
        for _ in range(4):
            depth0 = re.sub(r"\([^()]*\)|\[[^][]*\]", "", depth0)
        named = re.search(r"\bbool\s+[^;]*$", s[max(a, m.start() - 60):m.start()])
        if ternary(s, *span) and not named:
            continue
        if (named or LOGICAL.search(depth0)) and text not in ("true", "false"):
            if "," in depth0 or "for (" in s[m.start() - 60:m.start()]:
                continue
            found.setdefault(span, "bool")
    return [(k, *span) for span, k in sorted(found.items())]


def statement_end(s, at, e):
    depth = 0
    for i in range(at, e):
        if s[i] in "([{":
            depth += 1
        elif s[i] in ")]}":
            depth -= 1
            if depth < 0:
                return i
        elif depth == 0 and s[i] in ",;":
            return i
    return e


def in_words(back):
    """Whether what follows back stands in the words of a finding."""
    depth = 0
    for i in range(len(back) - 1, -1, -1):
        c = back[i]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                if c == "(" and WORDS.search(back[:i]):
                    return True
            else:
                depth -= 1
        elif c == ";" and depth == 0:
            break
    tail = back[back.rfind(";") + 1:]
    return bool(WORD_FIELD.search(tail))


def scope(top):
    """The functions in scope, in the order of files and lines."""
    paths = sorted(glob.glob(os.path.join(top, "src/*/*.c"))) + [
        os.path.join(top, "src/base/checked.h")]
    files = [File(p) for p in paths]
    for f in files:
        f.rel = os.path.relpath(f.path, top)
    by_name = {}
    for f in files:
        for fn in f.functions:
            by_name.setdefault(fn.name, []).append(fn)

    def resolve(name, f):
        all_of = by_name.get(name, [])
        own = [x for x in all_of if x.file is f]
        return own or [x for x in all_of if not x.is_static]

    chosen = {}
    for f in files:
        if PLUMBING_FILES.search(f.rel):
            continue
        new = {fn.name for fn in f.functions if NAMES_FINDING.search(fn.text)
               or WHOLE_FILES.fullmatch(f.rel)}
        while new:
            for fn in f.functions:
                if fn.name in new:
                    chosen[(f.rel, fn.name)] = fn
            new = {fn.name for fn in f.functions if fn.words & new
                   and (f.rel, fn.name) not in chosen}
    queue = list(chosen.values())
    while queue:
        fn = queue.pop()
        for _, a, b in conditions(fn):
            for name in re.findall(r"\b([a-z]\w+)\b", fn.file.masked[a:b]):
                for callee in resolve(name, fn.file):
                    key = (callee.file.rel, callee.name)
                    if key in chosen or PLUMBING_FILES.search(callee.file.rel):
                        continue
                    chosen[key] = callee
                    queue.append(callee)
    return sorted(chosen.values(), key=lambda fn: (fn.file.rel, fn.start))


class Site:
    """One span: a whole condition, a leaf of it, or both."""

    def __init__(self, fn, kind, a, b, whole, leaf):
        self.fn, self.kind, self.a, self.b = fn, kind, a, b
        self.whole, self.leaf = whole, leaf
        f = fn.file
        self.file = f.rel
        self.line = f.text.count("\n", 0, a) + 1
        self.text = " ".join(f.text[a:b].split())
        self.relation = relation(f.masked, a, b) if leaf else None


    def ops(self):
        """T and F force the value, N inverts it, B moves the boundary."""
        out = ""
        if self.leaf:
            bound = self.kind in ("for", "while") and (
                self.whole or self.relation)
            out += ("" if bound else "T") + "F" + ("B" if self.relation else "")
        if self.whole and self.kind not in ("for", "while"):
            out += "N"
        return out


RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def relation(s, a, b):
    """(operator span, other operator) of a leaf that compares by order."""
    depth, i = 0, a
    while i < b:
        c = s[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0:
            if s[i:i + 2] in ("->", "<<", ">>"):
                i += 2
                continue
            for op in ("<=", ">=", "<", ">"):
                if s.startswith(op, i):
                    return i, i + len(op), RELATIONS[op]
        i += 1
    return None


def sites(top):
    out = []
    for fn in scope(top):
        s = fn.file.masked
        for kind, a, b in conditions(fn):
            found = []
            leaves(s, a, b, found)
            spans = [x for x in found
                     if not PLUMBING.search(s[slice(*x)])
                     and not refused(s, *x)
                     and s[slice(*x)] not in ("true", "false", "NULL", "0")
                     and not re.fullmatch(r"CKPT_\w+", s[slice(*x)])]
            if not spans:
                continue
            single = spans == [(a, b)]
            if not single:
                if found == spans or len(spans) > 1:
                    out.append(Site(fn, kind, a, b, True, False))
            for x in spans:
                out.append(Site(fn, kind, *x, single, True))
    seen, unique = set(), []
    for x in out:
        key = (x.file, x.a, x.b)
        if key not in seen:
            seen.add(key)
            unique.append(x)
    return unique


if __name__ == "__main__":
    import collections
    all_sites = sites(".")
    per = collections.Counter(x.file for x in all_sites)
    for x in all_sites:
        print(f"{x.file}:{x.line}\t{x.fn.name}\t{x.kind}"
              f"{' whole' if x.whole else ''}{' leaf' if x.leaf else ''}"
              f"{' rel' if x.relation else ''}\t{x.text}")
    for k, v in sorted(per.items()):
        print(f"# {k} {v}")
    print("#", len(all_sites), sum(len(x.ops()) for x in all_sites))
