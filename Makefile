# SPDX-License-Identifier: MIT
# One Makefile, no recursion into folders. `make help` lists the targets.
# MODE=release|debug|san|cov|afl, CC=gcc|clang|..., CFLAGS, WERROR=1, V=1.

MAKEFLAGS += --no-builtin-rules --no-print-directory
MODE ?= release
PREFIX ?= /usr/local
FUZZ_SECONDS ?= $(or $(SECONDS),60)
CHECK_BUILDS ?= release:gcc san:gcc san:clang

# Debian packages; each target installs only its own, and only what is missing.
DEPS = gcc libc6-dev make libjansson-dev libncurses-dev libseccomp-dev libssl-dev libxxhash-dev
DEPS_CHECK = $(DEPS) libcmocka-dev clang libclang-rt-dev clang-format mandoc \
	shellcheck valgrind jq tmux python3
DEPS_FULL = $(DEPS) clang libclang-rt-dev afl++

ifeq ($(origin CC),default)
CC := $(if $(filter afl,$(MODE)),afl-clang-fast,gcc)
endif
# Objects of two compilers never share a folder.
COMPILER := $(subst $() ,_,$(strip $(notdir $(CC))))
B := build/$(MODE)$(addprefix -,$(filter-out gcc afl-clang-fast,$(COMPILER)))

SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
MODE_FLAGS_san = $(SANITIZE) -fno-omit-frame-pointer
MODE_FLAGS_afl = $(if $(AFL_LLVM_CMPLOG),,$(SANITIZE) -fsanitize-undefined-trap-on-error)
MODE_FLAGS_cov = --coverage -DCKPT_SANDBOX=0
OPT_debug = -Og -g3
OPT_san = -O1 -g
OPT_cov = -O0 -g
$(if $(filter release debug san cov afl,$(MODE)),,$(error no such MODE: $(MODE)))
CFLAGS ?= $(or $(OPT_$(MODE)),-O2 -g)
LIB_SECCOMP := $(shell $(CC) $(CPPFLAGS) -include seccomp.h -E -x c /dev/null \
	>/dev/null 2>&1 && echo -lseccomp)
LIBS ?= -ljansson -lcrypto -lxxhash -lm -lpthread $(LIB_SECCOMP)
LIBS_ckinspect = -lncursesw

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef \
	-Wvla -Wcast-qual -Wcast-align -Wwrite-strings -Wpointer-arith -Wformat=2 \
	-Wdouble-promotion -Wnull-dereference $(if $(filter 1,$(WERROR)),-Werror)
DIALECT = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc
CKPT_CFLAGS = $(DIALECT) -fno-common $(WARN) $(MODE_FLAGS_$(MODE))
# Last, so that the user's CFLAGS cannot change the numbers; contraction after
# fast-math, because -fno-fast-math may reset it.
CKPT_FP = -fno-fast-math -ffp-contract=off
COMPILE = $(CC) $(CPPFLAGS) $(CKPT_CFLAGS) $(CFLAGS) $(FOLDER_FLAGS) $(CKPT_FP)
LINK = $(CC) $(MODE_FLAGS_$(MODE)) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ \
	$(filter %.o %.a,$^) $(LIBS_$(@F))
run = $(if $(V),,@printf '  %-5s %s\n' $(1) $@ && )mkdir -p $(@D) && $(2)

MAINS := $(sort $(wildcard src/cli/ck*.c))
TOOLS := $(patsubst src/cli/%.c,$(B)/%,$(MAINS))
obj = $(patsubst %.c,$(B)/%.o,$(1))
SRC := $(sort $(wildcard src/*/*.c))
LIB_OBJ := $(call obj,$(filter-out src/cli/%,$(SRC)))
CLI_OBJ := $(call obj,$(filter-out $(MAINS),$(filter src/cli/%,$(SRC))))
SUPPORT_OBJ := $(call obj,$(sort $(wildcard tests/support/*.c fuzz/postproc*.c)))
TESTS := $(patsubst tests/unit/%.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ_MAIN := $(wildcard fuzz/main_$(if $(filter afl,$(MODE)),afl,files).c)
FUZZ := $(if $(FUZZ_MAIN),$(patsubst fuzz/%.c,$(B)/%,$(sort $(wildcard fuzz/fuzz_*.c))))
POSTPROC := $(if $(filter afl,$(MODE)),$(if $(AFL_LLVM_CMPLOG),,$(B)/postproc.so))
FORMATTED := $(sort $(wildcard include/*.h src/*/*.[ch] tests/*/*.[ch] fuzz/*.[ch]))

.PHONY: all check check-san tests demo fuzz fuzz-smoke corpus man lint fmt \
	fmt-check layers install bench browser clean help where FORCE
.DELETE_ON_ERROR .SECONDARY:

all: $(B)/libckpt.a $(TOOLS) ## build the library and the tools (default)

check: ## install what tests need; run all tests on every build of CHECK_BUILDS
check-san: CHECK_BUILDS = san:gcc san:clang ## all tests under ASan and UBSan
check check-san:
	@tests/deps.sh $(DEPS_CHECK)
	+@MAKE='$(MAKE)' tests/run $(CHECK_BUILDS)

tests: $(TESTS) $(FUZZ) ## build the test programs of this MODE

demo: ## build, then check a good and a bad file and show what is said
	@tests/deps.sh $(DEPS)
	@$(MAKE) all
	@BIN=$(B) tests/demo.sh

bench: all ## ratios of speed in one run: table, JSON, SVG (WHAT=hash)
	@B=$(B) COMPILE='$(COMPILE)' LIBS='$(LIBS)' tests/bench.sh $(WHAT)
browser: all ## install Chromium; the page of ckinspect --html in it
	@tests/deps.sh chromium && BIN=$(B) tests/browser.sh

fuzz: $(FUZZ) $(POSTPROC) ## build the fuzz programs (MODE=afl for AFL++)

fuzz-smoke: ## AFL++ on every target, FUZZ_SECONDS each; fails if one crashes
	@tests/deps.sh $(DEPS_FULL) && $(MAKE) MODE=afl CC=afl-clang-fast fuzz
	@$(MAKE) MODE=afl CC=afl-clang-fast B=build/cmplog AFL_LLVM_CMPLOG=1 fuzz
	@tests/fuzz-smoke.sh build/afl $(FUZZ_SECONDS) $(TARGETS)

corpus: all ## rebuild corpus/ from its recipes
	$(B)/ckforge corpus corpus

man: all ## rebuild the man pages and fuzz dictionaries from the tables
	@BIN=$(B) tests/man.sh write

lint: ## format, layers, headers alone, sizes, names, man pages, scripts
	@tests/deps.sh $(DEPS_CHECK)
	@$(MAKE) all
	@BIN=$(B) COMPILE='$(COMPILE)' FORMATTED='$(FORMATTED)' tests/lint.sh

fmt: ; clang-format -i $(FORMATTED) ## reformat all C files
fmt-check: ## say which C files are not formatted
	@$(if $(FORMATTED),clang-format --dry-run -Werror $(FORMATTED))
layers: ; @tests/layers.sh ## no folder includes one below it
install: all ## tools, library, headers, man pages; PREFIX and DESTDIR
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib include)
	$(if $(TOOLS),install $(TOOLS) $(DESTDIR)$(PREFIX)/bin)
	install -m 644 $(B)/libckpt.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(wildcard include/*.h include/*.json) $(DESTDIR)$(PREFIX)/include
	$(foreach p,$(wildcard man/*.[1-9]),install -D -m 644 $(p) \
	$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(p)))/$(notdir $(p)) &&) :

clean: ; rm -rf build ## remove build/
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14
where: ; @echo $(B)

# These change only when what they hold changes.
stamp_flags = $(COMPILE) $(LDFLAGS) $(LIBS)
stamp_objects = $(LIB_OBJ) $(CLI_OBJ) $(SUPPORT_OBJ)
$(B)/stamp_%: FORCE
	@$(shell mkdir -p $(B))$(file >$@.new,$($(@F)))cmp -s $@.new $@ || cp $@.new $@

$(B)/src/num/%.o: private FOLDER_FLAGS = -O2 -ftree-vectorize -fno-math-errno
$(B)/tests/%.o: private FOLDER_FLAGS = -Itests
$(B)/%.o: %.c $(B)/stamp_flags
	$(call run,CC,$(COMPILE) -MMD -MP -c -o $@ $<)
# -w: what the macros of AFL++ expand to is not ours.
$(B)/fuzz/entry_%.o: $(FUZZ_MAIN) $(B)/stamp_flags
	$(call run,CC,$(COMPILE) $(if $(filter afl,$(MODE)),-w) -MMD -MP \
	-DCKPT_FUZZ_TARGET=ckpt_fuzz_$* -c -o $@ $<)
$(B)/libckpt.a: $(LIB_OBJ) $(B)/stamp_objects
	$(call run,AR,rm -f $@ && $(AR) rcs $@ $(LIB_OBJ))
$(TOOLS): $(B)/%: $(B)/src/cli/%.o $(CLI_OBJ) $(B)/libckpt.a
	$(call run,LINK,$(LINK) $(LIBS))
$(TESTS): $(B)/%: $(B)/tests/unit/%.o $(SUPPORT_OBJ) $(CLI_OBJ) $(B)/libckpt.a
	$(call run,LINK,$(LINK) -lcmocka $(LIBS))
$(FUZZ): $(B)/fuzz_%: $(B)/fuzz/fuzz_%.o $(B)/fuzz/entry_%.o $(B)/libckpt.a
	$(call run,LINK,$(LINK) $(LIBS))
# Loaded by afl-fuzz itself, so never instrumented.
$(B)/postproc.so: $(wildcard fuzz/postproc*.c) $(filter-out src/cli/% src/view/%,$(SRC))
	$(call run,LINK,gcc $(DIALECT) -O2 $(CKPT_FP) -fPIC -shared -o $@ $^ $(LIBS))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
