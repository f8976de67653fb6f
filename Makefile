# Every recipe that CI uses; all of them work on a developer's machine.

.PHONY: test check docs plan-nfs python-test test-guest parity parity-record parity-random sweeps-record nfs nfs-record lint bless fuzz bench bench-linux bench-peers same shape blind advised lists sizes studies prose style

# All tests.
test:
	./test.sh

# Blind test of verdicts: draws COUNT random cases with SEED, proves their causes by counterfactual, and scores the headlines. DIR=FOLDER
# scores the cases of a folder and draws none. VIEW: what verdicts may see. ENGINE=linux: on the real kernel (KERNEL=6.12).
blind: COUNT = 500
blind: VIEW = model
blind: ENGINE = sim
blind: KERNEL = 6.12
blind:
	cargo run --release --bin fullpipe-blind -- --view $(VIEW) --engine $(ENGINE) \
		$(if $(filter linux,$(ENGINE)),--as-kernel $(KERNEL)) \
		$(if $(DIR),--dir $(DIR),--seed $(SEED) --count $(COUNT))

# Advice on COUNT random paths with SEED: its rates, beside fixed lists of settings, and sizes of buffers; pages in Markdown.
advised lists sizes: COUNT = 60
advised:
	cargo run --release --bin fullpipe-advised -- paths --seed $(SEED) --count $(COUNT)
lists:
	cargo run --release --bin fullpipe-advised -- lists --seed $(SEED) --count $(COUNT)
sizes:
	cargo run --release --bin fullpipe-advised -- sizes --seed $(SEED) --count $(COUNT)

# The Python package: its wheel, in a new environment, with its tests (ARGS go to pytest).
python-test:
	./crates/fullpipe-py/test.sh $(ARGS)

# The guest of the engine `linux` in a kernel for it (make test-guest KERNEL=/path/of/it).
GUEST_TARGET := x86_64-unknown-linux-gnu
test-guest:
	RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --target $(GUEST_TARGET) \
		-p fullpipe-guest --target-dir target/guest
	FULLPIPE_TEST_KERNEL="$(abspath $(KERNEL))" \
	FULLPIPE_TEST_INIT="$(CURDIR)/target/guest/$(GUEST_TARGET)/release/fullpipe-init" \
		cargo test -p fullpipe-guest --test in_kernel

# The golden tables of scenarios/parity on real Linux, recorded anew (needs `fullpipe kernel build`), random scenarios,
# and then the pages of distances to them. FULLPIPE_PARITY=NAME in front: those of scenarios/parity/NAME.toml alone.
parity-record:
	FULLPIPE_REQUIRE_KERNEL=1 cargo test -p fullpipe --test all -- --ignored parity::record::record --nocapture
	FULLPIPE_REQUIRE_KERNEL=1 cargo test -p fullpipe --test all -- --ignored parity::page::random --nocapture --test-threads 1
	$(MAKE) parity

# The simulator's distances to these tables, into docs/parity.md, docs/how-true.md and README.md.
parity:
	UPDATE_EXPECT=1 cargo test -p fullpipe --test all -- parity::distances::distances_of --nocapture

# The records of sweeps that are kept in scenarios/sweeps/golden, and then the tables of docs/competition.md and docs/sweeps.md. Minutes to
# hours of CPU; those on Linux need `fullpipe kernel build`. FULLPIPE_SWEEP=NAME,NAME in front: these alone. What `fullpipe sweep` has left
# in FULLPIPE_SWEEPS/NAME (target/sweeps) is not made again.
sweeps-record:
	cargo test --release -p fullpipe --test all -- --ignored sweeps::record --nocapture
	UPDATE_EXPECT=1 cargo test -p fullpipe --test all -- sweeps::competition sweeps::points

# COUNT random scenarios from SEED on simulator and kernel, and how far they are apart.
SEED ?= 1
COUNT ?= 5
parity-random:
	cargo run --release -p fullpipe-cli -- parity --random $(COUNT) --seed $(SEED)

# The table of docs/nfs.md, from runs of scenarios/workloads/nfs.toml on real Linux (needs `fullpipe kernel build --config nfs`).
nfs:
	cargo test -p fullpipe --test all -- --ignored --exact nfs::record --nocapture

# Forty random mounts on real Linux, kept in scenarios/nfs (those whose scenario has not changed stay), and then the
# simulator's distances to them, into docs/nfs.md.
nfs-record:
	cargo test -p fullpipe --test all -- --ignored nfs::record_random nfs_questions::record --nocapture
	UPDATE_EXPECT=1 cargo test -p fullpipe --test all -- nfs::random_mounts nfs_questions::study --include-ignored --nocapture

# Fifty random plans of NFS mounts beside the best of all settings on the simulator, which takes an hour.
plan-nfs:
	cargo test --release -p fullpipe --test all -- --ignored plan_nfs::promise --nocapture

# Before each commit: under a minute on a warm tree of which one file has changed. Runs all unit tests that boot no kernel and, of the
# programs tests/all, what QUICK names: golden files and tables that take seconds. ./test.sh runs the rest.
QUICK := bql:: cc:: gro:: qdisc:: recovery:: syn:: tcp_ \
	analysis_compare analysis_facts congestion_cards kernels:: links:: linux_asks linux_page public_names report:: trace_formats trace_rundir \
	scenario:: scenario_engine scenario_errors scenario_reference verdicts:: help:: list:: new::
check: lint shape
	cargo test --quiet --workspace --lib -- --skip kernel_tests
	cargo test --quiet --workspace --test all -- $(QUICK)

# What a commit has to pass besides its tests.
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# Rewrites golden files and generated pages; read the difference before committing it.
bless:
	UPDATE_EXPECT=1 cargo test --workspace
	UPDATE_EXPECT=1 cargo test --workspace --test all -- --ignored study_

# The reference and the schemas of scenarios and results, into docs/, where git ignores them.
docs:
	cargo build --quiet --workspace --bin fullpipe
	set -e; fullpipe="$${CARGO_TARGET_DIR:-target}/debug/fullpipe"; \
	"$$fullpipe" schema > docs/schema.json; \
	"$$fullpipe" schema --markdown > docs/formats.md; \
	"$$fullpipe" schema scenario > docs/scenario.schema.json; \
	"$$fullpipe" schema scenario --markdown > docs/scenario.md

# The parser of scenarios under libFuzzer, for SECONDS (600); needs a nightly toolchain and cargo-fuzz.
fuzz:
	./fuzz/run.sh $(SECONDS)

# Data segments per CPU second, with and without the trace; what many flows cost; what recovery costs; what it takes to merge a million
# results of a sweep (ARGS go to these: --record FILE).
bench:
	cargo bench -p fullpipe --bench speed
	cargo bench -p fullpipe --bench flows -- $(ARGS)
	cargo bench -p fullpipe-sim --bench recovery -- $(ARGS)
	cargo bench -p fullpipe --bench holes -- $(ARGS)
	cargo bench -p fullpipe --bench merge -- $(ARGS)
	cargo bench -p fullpipe --bench advice -- $(ARGS)

# What the engine `linux` costs beside a bare sender and receiver in the same kernel (ARGS go to this: --record FILE).
bench-linux:
	cargo bench -p fullpipe-linux --bench linux -- $(ARGS)

# fullpipe, ns-3 and ns-2 on the same scenarios, side by side (benches/README.md); ARGS go to peers.py.
bench-peers:
	./benches/peers/run.sh $(ARGS)

# Whether a change that should change nothing has changed a value: hashes all columns of the trace, all values of the documents and
# the reports of all scenarios and recipes, and compares them with target/same/before.txt, which the first run writes. RUNS: of
# each scenario so many (1); RUNS=all takes half an hour.
RUNS ?= 1
same:
	FULLPIPE_SAME_RUNS=$(RUNS) cargo test --workspace --test all -- --ignored --exact same::same --nocapture

# All rows of all studies, of which CI makes a sample: before a release, and after the simulator has changed.
studies:
	FULLPIPE_STUDIES=1 cargo test --workspace --test all -- --ignored study_
	FULLPIPE_STUDIES=1 cargo test -p fullpipe --test all -- field_advice

# Sentence lengths of pages and doc comments, words of the private language, and heads that name nothing (tools/prose.py --help).
prose:
	python3 tools/prose.py

# Bodies of functions: blank lines, comments, lengths, closures that are used once (tools/style.py --help).
style:
	python3 tools/style.py

# Whether the crates, and the folders of each, depend on each other in one direction (tools/shape.py), whether each doc comment
# begins with its subject (tools/prose.py), and whether no function takes a tuple (tools/style.py).
shape:
	python3 tools/shape.py
	python3 tools/prose.py --check
	python3 tools/style.py --check
