/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_OPT_H
#define CKPT_CLI_OPT_H

/*
 * Option rows. A tool writes down its options once, in a const table; the
 * parser, --help and the man page are made from it. Command lines are read as
 * GNU tools do: --name=VALUE or --name VALUE, -qv, -oF or -o F, options and
 * operands mixed, "--" ends the options, "-" is an operand. Long options are
 * not abbreviated. Of a repeated option the last one wins.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum ckpt_opt_kind {
	CKPT_OPT_END = 0, /* { 0 } ends a table */
	CKPT_OPT_HEADING, /* not an option: help is the title of those below */
	CKPT_OPT_FLAG,    /* slot: bool */
	CKPT_OPT_CHOICE,  /* slot: int or an enum, the index into words */
	CKPT_OPT_SIZE,    /* slot: uint64_t; decimal, then k, M or G */
	CKPT_OPT_U64,     /* slot: uint64_t; decimal or 0x and hex digits */
	CKPT_OPT_TEXT,    /* slot: const char *, borrowed from argv */
	CKPT_OPT_LIST,    /* no slot; every one stands in args->given */
};

/* One option. All text is static.
 *
 * help is one or more sentences that start in lower case and end without a
 * full stop. An optional value stands only in --name=VALUE or -xVALUE. tag is
 * for the tool: how it calls a LIST, or what an optional CHOICE puts into its
 * slot when it stands without a value. preset is the value of an option that
 * is not given, written as on a command line. */
struct ckpt_opt {
	const char *name; /* "max-memory"; NULL if there is only a letter */
	char letter;      /* 0 if none; h and V belong to every tool */
	enum ckpt_opt_kind kind;
	bool optional; /* CHOICE, LIST: the value may be missing */
	bool alone;    /* in place of the operands, as --list-rules */
	bool hidden;   /* neither help nor man page shows it */
	int tag;
	const char *arg; /* "SIZE"; a CHOICE without it shows its words */
	const char *const *words; /* CHOICE: the legal words, then NULL */
	const char *preset;       /* NULL: the slot keeps what it has */
	uint64_t least, most;     /* SIZE, U64; most 0: no bound */
	size_t slot;              /* offsetof in the tool's own struct */
	const char *help;
};

/* A name and what is to be said of it; tables end with { 0 }. */
struct ckpt_entry {
	const char *name;
	const char *text;
};

#define CKPT_OPERANDS_ANY SIZE_MAX

/* A tool, or a subcommand of one; a table of these ends with { 0 }, lists of
 * text with NULL. A tool's own rows apply to its subcommands too and must not
 * share slots with theirs. Everything from subs on is looked at
 * in the tool only. */
struct ckpt_command {
	const char *name;            /* "ckforge"; of a subcommand "mutate" */
	const char *title;           /* one line, lower case, no full stop */
	const char *const *use;      /* what follows the name in the synopsis */
	const char *const *about;    /* paragraphs of the description */
	const struct ckpt_opt *opts; /* NULL: none */
	const char *operand;         /* what messages call one, "FILE" */
	size_t least, most;          /* number of operands */
	const char *const *closing;  /* paragraphs near the end of --help */
	const struct ckpt_command *subs;
	void (*keys)(struct ckpt_buf *buf); /* section KEYS, as mdoc */
	const struct ckpt_entry *environment;
	const struct ckpt_entry *exits;    /* NULL: ckpt_exit_entries */
	const struct ckpt_entry *examples; /* command line, what it does */
	const char *const *see;            /* "ckinspect(1)", sorted */
	const char *const *confined;       /* what it may do in its sandbox */
	const char *date;                  /* of the man page, "May 1, 2025" */
};

/* An option as it was given. */
struct ckpt_given {
	const struct ckpt_opt *opt;
	const char *value; /* borrowed from argv; NULL if there was none */
};

/* What a command line said. */
struct ckpt_args {
	const struct ckpt_command *command;
	const struct ckpt_command *sub; /* NULL if there are none */
	struct ckpt_given *given;       /* owned; in the order given */
	size_t given_count;
	const char **operands; /* owned array of borrowed words */
	size_t operand_count;
	int status; /* to exit with, once something returned false */
	struct ckpt_buf out, err;
};

/* The meaning of each exit status, the same for all tools. */
extern const struct ckpt_entry ckpt_exit_entries[];

/* The rows that every tool has: --no-sandbox, which stands in args->given like
 * any other, --help, --version and the hidden --man. */
extern const struct ckpt_opt ckpt_opt_builtin[];

/* Reads a command line into args and, through the rows' slots, into options,
 * which the caller has set to what holds when an option is not given. Returns
 * false when there is nothing more to do: a usage error, --help and the like.
 * Then ckpt_args_report prints what args holds. Prints nothing itself.
 * Release args in any case. */
bool ckpt_args_parse(struct ckpt_args *args, const struct ckpt_command *command,
	void *options, int argc, char *const *argv);
void ckpt_args_release(struct ckpt_args *args);

/* Notes a usage error that the tool itself found; false, always. The message
 * is before, then word escaped and in quotes unless it is NULL, then after. */
bool ckpt_args_fail(struct ckpt_args *args, const char *before,
	const char *word, const char *after);

/* Prints what was noted and returns the status to exit with. */
int ckpt_args_report(struct ckpt_args *args);

/* Whether it is a row of every tool: it has no slot in the options of this
 * one, and its tag means nothing to it. */
bool ckpt_opt_is_builtin(const struct ckpt_opt *opt);

/* The last use of an option, by its long name or its letter as a word; NULL
 * if it was not given. */
const struct ckpt_given *ckpt_args_find(
	const struct ckpt_args *args, const char *name);

/* Reads one value into its slot (NULL: the option stands without a value). On
 * false, why says what is wrong with the value. */
bool ckpt_opt_store(const struct ckpt_opt *opt, const char *value,
	void *options, struct ckpt_buf *why);

/* True if the option can have a value. */
bool ckpt_opt_valued(const struct ckpt_opt *opt);

/* "ckforge" or "ckforge mutate"; "--name", or "-x" if that is all. */
void ckpt_command_spell(struct ckpt_buf *buf,
	const struct ckpt_command *command, const struct ckpt_command *sub);
void ckpt_opt_spell(struct ckpt_buf *buf, const struct ckpt_opt *opt);
/* The metavariable, or the words with bars between. */
void ckpt_opt_spell_value(struct ckpt_buf *buf, const struct ckpt_opt *opt);

/* The text of --help; of the tool if sub is NULL. */
void ckpt_help_write(struct ckpt_buf *buf, const struct ckpt_command *command,
	const struct ckpt_command *sub);

/* The whole man page (mdoc), and its option list alone. */
void ckpt_man_write(struct ckpt_buf *buf, const struct ckpt_command *command);
void ckpt_man_options(struct ckpt_buf *buf, const struct ckpt_opt *opts);

/* For the tests of the tools: true if the tables are well made (unique names,
 * readable presets, ...); otherwise why says what is not. */
bool ckpt_command_check(
	const struct ckpt_command *command, struct ckpt_buf *why);

#endif
