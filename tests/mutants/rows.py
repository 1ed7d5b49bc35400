# SPDX-License-Identifier: MIT
"""Mutants of tables: a row's legal values removed, widened or narrowed by one,
a row judged at another time, a check never run, and the ranks of two findings
swapped. In the scratch copy the tables lose their const, and a constructor
behind each changes the row."""
import re

SCHEMA = "src/format/llmcp35_schema.c"
RULES = "src/format/llmcp35_rules.c"
DIAG = "src/diag/diag.c"
HEADERS = {"src/format/llmcp35.h": [
    (r"extern const struct ckpt_want ", "extern struct ckpt_want "),
    (r"extern const struct ckpt_check ", "extern struct ckpt_check ")]}
WEAKER = {"F64_POSITIVE": "F64_NOT_NEGATIVE", "F64_BELOW_ONE": "F64_NOT_NEGATIVE"}
STRICTER = {"F64_NOT_NEGATIVE": "F64_POSITIVE", "F64_BELOW_ONE": None}


def wants(text):
    """(key, statement) for each row of legal values."""
    out = []
    for m in re.finditer(r"^(?:static )?const struct ckpt_want (\w+) = \{(.*?)^\};",
                         text, re.M | re.S):
        name, body = m.group(1), m.group(2)
        value = dict(re.findall(r"\.(\w+) = ([^,\n]+)", body))
        kind = value["kind"].replace("CKPT_WANT_", "")

        def add(what, *statements):
            out.append((f"{name} {what}", " ".join(statements)))
        add("removed", f"{name}.kind = CKPT_WANT_ANY;")
        if kind == "RANGE":
            if value["min"] != "0":
                add("min-1", f"{name}.min--;")
            add("min+1", f"{name}.min++;")
            if value["max"] != "UINT64_MAX":
                add("max+1", f"{name}.max++;")
            add("max-1", f"{name}.max--;")
        if kind == "TAGS":
            tags, n = value["tags"], f"sizeof {value['tags']} / sizeof {value['tags']}[0]"
            for what, expr in (("tag above", f"{tags}[n - 1].value + 1"),
                               ("tag below", f"{tags}[0].value - 1")):
                add(what, f"static struct ckpt_tag more[16]; size_t n = {n};",
                    f"memcpy(more, {tags}, sizeof {tags});",
                    f"more[n] = (struct ckpt_tag){{ {expr}, \"more\", \"more\" }};",
                    f"{name}.tags = more; {name}.ntags = n + 1;")
            add("first tag lost", f"{name}.tags++; {name}.ntags--;")
            add("last tag lost", f"{name}.ntags--;")
        if kind == "BYTES":
            add("other bytes", "static uint8_t b[8];"
                f"memcpy(b, {name}.bytes, 8); b[7] ^= 1; {name}.bytes = b;")
        if kind in WEAKER:
            add("weaker", f"{name}.kind = CKPT_WANT_{WEAKER[kind]};")
        if STRICTER.get(kind):
            add("stricter", f"{name}.kind = CKPT_WANT_{STRICTER[kind]};")
        if kind == "UTF8":
            add("min+1", f"{name}.min++;")
            if "min" in value:
                add("min-1", f"{name}.min--;")
        at = value.get("at")
        add("judged at another time", f"{name}.at = "
            + ("0;" if at else "LLMCP35_AT_DECODER;"))
        add("stops", f"{name}.stops = !{name}.stops;")
        add("other code", f"{name}.code = CKPT_D_IO;")
    for m in re.finditer(r"CKPT_(?:FIELD|ARRAY)\((?:struct (\w+)), (\w+),((?:(?!CKPT_FIELD|CKPT_ARRAY|^\}).)*)",
                         text, re.M | re.S):
        if ".when" in m.group(3):
            rec = m.group(1).replace("llmcp35_", "") + "_fields"
            at = text[:m.start()].rsplit(f"{rec}[] = {{", 1)[1]
            i = len(re.findall(r"CKPT_(?:FIELD|ARRAY)\(", at))
            out.append((f"{rec}[{i}] always there", f"{rec}[{i}].when.set = false;"))
    return out


def checks(text):
    body = text[text.index("llmcp35_checks[] = {"):]
    n = len(re.findall(r"^\t\{ \"", body, re.M))
    return [(f"llmcp35_checks[{i}] never run", f"llmcp35_checks[{i}].after = NULL;")
            for i in range(n)]


ROW = re.compile(r"^X\((\w+),\s*\"(\w+)\",\s*\"[\w-]+\",\s*(\w+),\s*\w+,\s*"
                 r"(?:NULL|\"\w*\"),\s*\"([^\"]*)\",\s*'(.)',\s*(\d+)", re.M)


def group(check):
    if re.fullmatch(r"[A-G]\d*|6\.\d|8", check):
        return "llmcp35"
    return check if check in ("set", "io", "pair") else "safetensors"


def ranks(definitions):
    """Findings that stand next to each other in the order of a format."""
    by = {}
    for name, _, _, check, phase, step in ROW.findall(definitions):
        by.setdefault(group(check), {}).setdefault((phase, int(step)), []).append(name)
    out = []
    for g, steps in sorted(by.items()):
        order = sorted(steps)
        for a, b in zip(order, order[1:]):
            if a[0] != b[0]:
                continue
            for x in steps[a]:
                y = steps[b][0]
                out.append((f"{g}: {x} and {y} swapped",
                            f"swap_ranks(CKPT_D_{x}, CKPT_D_{y});"))
            for y in steps[b][1:]:
                x = steps[a][0]
                out.append((f"{g}: {x} and {y} swapped",
                            f"swap_ranks(CKPT_D_{x}, CKPT_D_{y});"))
    return out


SWAP = """
static void
swap_ranks(enum ckpt_code a, enum ckpt_code b)
{
	char phase = rows[a].phase;
	uint32_t step = rows[a].step;

	rows[a].phase = rows[b].phase;
	rows[a].step = rows[b].step;
	rows[b].phase = phase;
	rows[b].step = step;
}
"""


def constructor(numbered):
    cases = "".join(f"\tcase {n}: {{ {statement} break; }}\n"
                    for n, _, statement in numbered)
    return ("\n__attribute__((constructor)) static void\nckpt_mutant_rows(void)\n"
            "{\n\tswitch (ckpt_mutant_number) {\n" + cases + "\t}\n}\n")


def rows(read):
    """(file, number, key, statement) of every mutant of a table; read gives a
    file's text."""
    out = []
    for base, path, made in ((200000, SCHEMA, wants(read(SCHEMA))),
                             (210000, DIAG, ranks(read("src/diag/diag.def"))),
                             (220000, RULES, checks(read(RULES)))):
        out += [(path, base + i, key, s) for i, (key, s) in enumerate(made)]
    return out


def rewrite(path, text, mine):
    """The text of a file with its tables made to be changed."""
    for a, b in HEADERS.get(path, []):
        text = re.sub(a, b, text)
    if not mine:
        return text
    if path == SCHEMA:
        text = re.sub(r"const struct ckpt_(want|tag) (\w+)(\[\])? = \{",
                      r"struct ckpt_\1 \2\3 = {", text)
        text = re.sub(r"const struct ckpt_field (\w+)\[\]",
                      r"struct ckpt_field \1[]", text)
        text = "#include <string.h>\n" + text
    if path == RULES:
        text = text.replace("const struct ckpt_check llmcp35_checks",
                            "struct ckpt_check llmcp35_checks")
    if path == DIAG:
        text = text.replace("static const struct rule_row rows",
                            "static struct rule_row rows") + SWAP
    return text + constructor(mine)
