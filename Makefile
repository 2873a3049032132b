# SPDX-License-Identifier: BSD-2-Clause
# profbpf: `make help` lists the targets. Knobs: V=1 verbose, O=DIR build folder, SAN=asan (address
# and undefined sanitizers) and STATIC=1 (each in a folder of its own), CC, CLANG, BPFTOOL, CFLAGS,
# LDFLAGS, prefix, DESTDIR.

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
CLANG    ?= clang
BPFTOOL  ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
SAN      ?=
STATIC   ?=
VARIANT  := $(or $(SAN),$(if $(STATIC),static),release)
O        ?= build/$(VARIANT)
# The folder of another variant: build/asan, or beside the O= that was given.
variant   = $(if $(filter command environment,$(firstword $(origin O))),$(O)-$(1),build/$(1))

prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
mandir   ?= $(prefix)/share/man
docdir   ?= $(prefix)/share/doc/profbpf
compdir  ?= $(prefix)/share/bash-completion/completions
INSTALL  ?= install

# Under sudo, what is built belongs to the calling user: every recipe drops to that user, if it may
# write here. The few targets that need root are listed under ROOT_TARGETS and switch back.
ROOT_TARGETS := demo test test-all e2e kernels bench verify doctor install uninstall deps
SUDO_DROP :=
ifneq ($(SUDO_UID),)
ifeq ($(shell id -u):$(shell setpriv --reuid=$(SUDO_UID) --regid=$(SUDO_GID) --init-groups test -w . && echo yes),0:yes)
SUDO_DROP := --reuid=$(SUDO_UID) --regid=$(SUDO_GID) --init-groups
SUDO_HOME := $(shell getent passwd $(SUDO_UID) | cut -d: -f6)
SHELL := $(shell command -v setpriv)
.SHELLFLAGS := $(SUDO_DROP) env HOME=$(or $(SUDO_HOME),/) sh -c
$(ROOT_TARGETS): private SHELL := /bin/sh
$(ROOT_TARGETS): private .SHELLFLAGS := -c
endif
endif

ARCH     := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
VERSION  := 0.1$(addprefix +,$(shell git describe --always --dirty 2>/dev/null))
NPROC    := $(shell nproc 2>/dev/null || echo 1)
# A make that a recipe starts: as parallel as the machine unless -j was given.
SUBMAKE   = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(NPROC))

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

WARN := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Werror
CPPFLAGS += -I. -I$(O)/gen -D_GNU_SOURCE
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu17 $(WARN) -fno-omit-frame-pointer -fstack-protector-strong
LDLIBS   := -lbpf -ldw -lelf -lz -liberty -lm -lpthread
ifeq ($(SAN),asan)
override CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=undefined
override LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(SAN),fuzz) # objects for libFuzzer: clang, whose -Wconversion is another one
override CC      := $(CLANG)
override CFLAGS  := -O1 -g -std=gnu17 -w -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
override LDFLAGS += -fsanitize=address,undefined
endif
ifneq ($(STATIC),)
# libdw and libelf bring the compressions of their sections along. glibc warns of getpwnam: names of
# users from /etc/passwd work without its loadable parts, and nothing else is asked.
override LDFLAGS += -static -Wl,--strip-debug $(shell $(LD) --help 2>/dev/null | grep -q no-warnings && echo -Wl,--no-warnings)
LDLIBS   := -lbpf -ldw -lelf -lz -llzma -lbz2 -liberty -lm -lpthread -ldl
else
override LDFLAGS += -Wl,--as-needed
endif

SRCS   := $(sort $(wildcard user/*/*.c symbolize/*.c flamegraph/*.c))
HDRS   := $(sort $(wildcard user/*/*.h symbolize/*.h flamegraph/*.h))
OBJS   := $(SRCS:%.c=$(O)/%.o)
LIB    := $(O)/libprofbpf.a
BIN    := $(O)/profbpf
BPFSRC := $(sort $(wildcard bpf/*.bpf.c))
BPFOBJ := $(BPFSRC:%.bpf.c=$(O)/%.bpf.o)
SKEL   := $(O)/gen/profbpf.skel.h
ASSETS := $(sort $(wildcard flamegraph/assets/*.js flamegraph/assets/*.css user/page/assets/*))
ASSETH := $(ASSETS:%=$(O)/gen/%.h)
UNIT   := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
UNITH  := $(sort $(wildcard tests/unit/*.h))
WORK   := $(patsubst tests/workloads/%.c,$(O)/tests/workloads/%,$(sort $(wildcard tests/workloads/*.c)))
FUZZ   := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAY := $(FUZZ:%=$(O)/tests/fuzz/replay_%)
FUZZER := $(FUZZ:%=$(O)/tests/fuzz/fuzz_%)
# The only sources that know the version, so that a commit does not rebuild the rest.
VERSIONED := $(patsubst %.c,$(O)/%.o,$(shell grep -ls PROFBPF_VERSION user/*.c user/*/*.c))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE
FORCE:

.PHONY: all
all: $(BIN) ## build profbpf

$(BIN): $(O)/user/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(O)/%.o: %.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Stamps that change only when their text does.
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
$(O)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
$(VERSIONED): $(O)/version
$(VERSIONED): private CPPFLAGS += -DPROFBPF_VERSION='"$(VERSION)"'

# The skeleton's header is only seen by user/record.
$(filter $(O)/user/record/%,$(OBJS)): $(SKEL)
$(filter $(O)/flamegraph/% $(O)/user/page/%,$(OBJS)): $(ASSETH)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h vmlinux/*.h)
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror -I. -Ivmlinux -c -o $@ $<

$(O)/bpf/profbpf.linked.o: $(BPFOBJ)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(O)/bpf/profbpf.linked.o
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name profbpf_bpf > $@

# A real .js or .css file becomes a C array named after its path.
$(O)/gen/%.h: % tests/embed.sh
	$(call say,EMBED,$<)
	$(Q)mkdir -p $(@D)
	$(Q)sh tests/embed.sh $< > $@

$(O)/tests/unit/%: tests/unit/%.c $(UNITH) $(LIB)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -Wno-conversion $(LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) -lcmocka $(LDLIBS)

# Workloads keep every frame pointer, so that the kernel's own stack walk sees whole stacks.
$(O)/tests/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	$(call say,WORK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
		-fno-optimize-sibling-calls $(if $(STATIC),-static) -o $@ $< -lpthread -lm

UNWINDER := $(patsubst %,$(O)/tests/unwind/%,diff_libdw oracle tables)
UNWIND_PARTS := $(patsubst %,tests/unwind/%.c,dw_eval modules truth)
$(UNWINDER): $(O)/tests/unwind/%: tests/unwind/%.c $(UNWIND_PARTS) $(LIB)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -Wno-conversion $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIB) $(LDLIBS)

$(O)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/standalone.c $(LIB)
	$(call say,REPLAY,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -Wno-conversion $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIB) $(LDLIBS)

$(O)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(LIB)
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB) $(LDLIBS)

-include $(OBJS:.o=.d) $(O)/user/main.d $(UNIT:=.d)

# ---- building blocks of the targets below; not for the command line
.PHONY: test-build replay-build fuzz-build workloads
test-build: all $(UNIT) $(WORK) $(REPLAY)
replay-build: $(REPLAY)
fuzz-build: $(FUZZER)
unwind-build: $(UNWINDER)
workloads: $(WORK)

# ---- trying it
.PHONY: demo doctor deps
demo: ## install what is missing, build, record a bundled workload, show the result (needs root)
	$(Q)sh tests/deps.sh build
	+$(Q)$(SUBMAKE) all $(O)/tests/workloads/shares
	$(Q)O='$(O)' sh tests/demo.sh

deps: ## install the packages that building and testing need (Debian and relatives)
	$(Q)sh tests/deps.sh build test

doctor: ## versions of the tools, and what this kernel and these permissions allow
	$(Q)sh tests/deps.sh --versions
	+$(Q)$(SUBMAKE) -s all
	$(Q)$(O)/profbpf doctor

# ---- tests; each ends with one line: N passed, N failed, N skipped
.PHONY: test test-all unit golden e2e fuzz-replay kernels browser asan check-unwind check-unwind-all unwind-build
test: ## everything that is fast: unit, golden, corpora, docs, layers, real recordings (needs root)
	$(Q)sh tests/deps.sh build test
	+$(Q)$(SUBMAKE) test-build
	$(Q)O='$(O)' CC='$(CC)' bash tests/run.sh layers headers docs unit golden fuzz-replay e2e

# SLOW=only leaves out what `make test` has just run.
test-all: ## test, and the slow ones: other kernels, a browser, long fuzzing (needs root)
	$(Q)sh tests/deps.sh build test slow
	+$(Q)$(SUBMAKE) test-build
	+$(Q)$(SUBMAKE) STATIC=1 O='$(call variant,static)' all '$(call variant,static)/tests/workloads/shares'
	+$(Q)$(SUBMAKE) SAN=fuzz O='$(call variant,fuzz)' fuzz-build
	+$(Q)$(SUBMAKE) unwind-build
	$(Q)O='$(O)' STATIC_O='$(call variant,static)' FUZZ_O='$(call variant,fuzz)' CC='$(CC)' bash tests/run.sh $(if $(SLOW),,layers headers docs unit golden fuzz-replay e2e) kernels browser fuzz unwind

unit: $(UNIT) ## unit tests only (T=NAME: one program)
	$(Q)O='$(O)' T='$(T)' bash tests/run.sh unit

golden: $(BIN) ## golden tests only
	$(Q)O='$(O)' T='$(T)' bash tests/run.sh golden

e2e: ## real recordings only (T=NAME: one case; needs root)
	+$(Q)$(SUBMAKE) all workloads
	$(Q)O='$(O)' T='$(T)' CC='$(CC)' bash tests/run.sh e2e

fuzz-replay: $(REPLAY) ## every fuzz target over its corpus
	$(Q)O='$(O)' T='$(T)' bash tests/run.sh fuzz-replay

fuzz: ## libFuzzer (T=NAME: one target, TIME=60 seconds for each)
	+$(Q)$(SUBMAKE) SAN=fuzz O='$(call variant,fuzz)' fuzz-build
	$(Q)O='$(O)' FUZZ_O='$(call variant,fuzz)' T='$(T)' TIME='$(or $(TIME),60)' bash tests/run.sh fuzz

kernels: ## boot Debian's 6.1 and 6.12 kernels under qemu and record there
	$(Q)sh tests/deps.sh build slow
	+$(Q)$(SUBMAKE) STATIC=1 O='$(call variant,static)' all '$(call variant,static)/tests/workloads/shares'
	$(Q)O='$(O)' STATIC_O='$(call variant,static)' T='$(T)' bash tests/run.sh kernels

browser: $(BIN) ## click through an SVG in a real browser
	$(Q)O='$(O)' bash tests/run.sh browser

check-unwind: $(UNWINDER) ## unwind tables and steps against libdw and the true stack: a sample of files, 52 programs
	$(Q)O='$(O)' T='$(T)' bash tests/run.sh unwind

check-unwind-all: $(UNWINDER) ## the same for every ELF file under /usr/bin and /usr/lib
	$(Q)O='$(O)' T='$(T)' UNWIND='all oracle' bash tests/run.sh unwind

asan: ## unit and golden tests and corpora under the address and undefined sanitizers
	+$(Q)$(SUBMAKE) SAN=asan O='$(call variant,asan)' test-build
	$(Q)O='$(call variant,asan)' T='$(T)' bash tests/run.sh unit golden fuzz-replay

update-golden: $(BIN) ## rewrite the golden files, then show what changed
	$(Q)O='$(O)' PROFBPF='$(O)/profbpf' UPDATE=1 bash tests/golden/run.sh
	$(Q)git --no-pager diff --stat -- tests/golden

# ---- checks of the source
.PHONY: update-golden layers headers format format-check tidy shellcheck docs-check
layers: ## check who includes whom (docs/architecture.md)
	$(Q)sh tests/layers.sh

headers: ## check that every header compiles alone
	$(Q)CC='$(CC)' sh tests/headers.sh

FORMATTED = $(filter-out %_table.h,$(SRCS) $(HDRS) user/main.c $(wildcard bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tests/workloads/*.[ch] tests/bench/*.c))
format: ## rewrite the C files in the project's format
	$(Q)sh tests/deps.sh --need clang-format
	$(Q)clang-format -i $(FORMATTED)

format-check: ## complain about C files that make format would change
	$(Q)sh tests/deps.sh --need clang-format
	$(Q)clang-format --dry-run -Werror $(FORMATTED) && echo "format: ok"

tidy: compile_commands.json $(SKEL) $(ASSETH) ## clang-tidy (.clang-tidy)
	$(Q)sh tests/deps.sh --need clang-tidy
	$(Q)printf '%s\n' $(SRCS) user/main.c | xargs -P $(NPROC) -n 4 clang-tidy --quiet -p . 2>$(O)/tidy.err || { grep -v 'warnings generated' $(O)/tidy.err; exit 1; }
	$(Q)echo "tidy: ok"

shellcheck: ## lint the shell scripts
	$(Q)sh tests/deps.sh --need shellcheck
	$(Q)shellcheck -x $(wildcard tests/*.sh tests/*/*.sh) .ci/run && echo "shellcheck: ok"

docs-check: $(BIN) ## -h against man pages, completion and golden cases; links in docs
	$(Q)PROFBPF='$(O)/profbpf' sh tests/docs.sh

compile_commands.json: $(SRCS) Makefile ## for clangd and clang-tidy
	$(Q){ printf '[\n'; sep=; for f in $(SRCS) user/main.c; do \
		printf '%s{"directory":"%s","file":"%s","arguments":["clang"' "$$sep" "$(CURDIR)" "$$f"; \
		printf ',"%s"' $(patsubst -I$(O)/gen,-isystem$(O)/gen,$(filter-out -Werror,$(CPPFLAGS) $(CFLAGS))); printf ',"-DPROFBPF_VERSION=\\"%s\\"","-c","%s"]}\n' '$(VERSION)' "$$f"; \
		sep=,; done; printf ']\n'; } > $@

# ---- the rest
.PHONY: static bench verify install uninstall help clean
static: ## one file to copy to a host without a compiler (build/static/profbpf)
	+$(Q)$(SUBMAKE) STATIC=1 O='$(call variant,static)' all
	$(Q)ls -sh '$(call variant,static)/profbpf'

bench: ## measure beside perf record -g; prints markdown (needs root; minutes; nothing else should run)
	$(Q)sh tests/deps.sh build bench
	+$(Q)$(SUBMAKE) all $(BENCHES)
	$(Q)O='$(O)' python3 tests/bench/run.py $(BENCH)

BENCHES = $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(wildcard tests/bench/*.c))
$(O)/tests/bench/gencapture: tests/bench/gencapture.c $(LIB)
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
$(O)/tests/bench/%: tests/bench/%.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o $@ $< -lpthread -lm

verify: ## load the BPF programs and print the verifier's counts (needs root)
	+$(Q)$(SUBMAKE) -s $(SKEL)
	$(Q)BPFTOOL='$(BPFTOOL)' sh tests/verify.sh $(O)/bpf/profbpf.linked.o

install: ## install under $(prefix) (DESTDIR is honoured)
	+$(Q)$(SUBMAKE) all
	$(Q)$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1' '$(DESTDIR)$(docdir)/images' '$(DESTDIR)$(compdir)'
	$(Q)$(INSTALL) -m 755 $(BIN) '$(DESTDIR)$(bindir)/profbpf'
	$(Q)$(INSTALL) -m 644 docs/man/*.1 '$(DESTDIR)$(mandir)/man1/'
	$(Q)$(INSTALL) -m 644 README.md NEWS.md LICENSE docs/*.md docs/report.schema.json '$(DESTDIR)$(docdir)/'
	$(Q)$(INSTALL) -m 644 docs/images/*.svg '$(DESTDIR)$(docdir)/images/'
	$(Q)$(INSTALL) -m 644 docs/completions/profbpf.bash '$(DESTDIR)$(compdir)/profbpf'

uninstall: ## remove what install put there
	$(Q)rm -f '$(DESTDIR)$(bindir)/profbpf' '$(DESTDIR)$(compdir)/profbpf' $(patsubst docs/man/%,'$(DESTDIR)$(mandir)/man1/%',$(wildcard docs/man/*.1))
	$(Q)rm -rf '$(DESTDIR)$(docdir)'

help: ## this list
	@grep -hE '^[a-z_.-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | sort | expand -t 24

clean: ## remove build/
	rm -rf build compile_commands.json
