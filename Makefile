# `make` prints the targets.

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: test
test: ## All tests, optimised as users build; ends with skips, counts, and kernels by level
	@cargo xtask test

.PHONY: test-levels
test-levels: ## Tests that depend on the instruction set, at lower ones than that of this processor
	@cargo xtask test --levels

.PHONY: test-ct
test-ct: ## Check that the kernels are constant time: valgrind, traces, clock, disassembly
	@scripts/constant-time.sh

.PHONY: test-arm64
test-arm64: ## Check arm64 by qemu: constant time, vectors, instructions; UPDATE=1 writes their budgets
	@cargo xtask arm64 $(if $(UPDATE),--update)

.PHONY: figures
figures: ## Put the figures of results/ into the documents' tables and the README's pictures
	@scripts/figures.sh

.PHONY: test-long
test-long: ## Overflow checks; twenty times the random cases, a million at most; soaks; threads; statistics (hours)
	@cargo xtask test --debug
	@LANECRYPT_CASES=1000000 LANECRYPT_LONG=1 cargo xtask test
	@scripts/threads.sh
	@scripts/statistics.sh

.PHONY: test-python
test-python: ## Install the Python package from this clone into a new environment, and test it (needs pypi.org)
	@scripts/python.sh

.PHONY: test-openssl
test-openssl: ## Test the OpenSSL provider: every libcrypto that is here, openssl, nginx, HAProxy, sshd and more
	@scripts/openssl.sh

.PHONY: suites
suites: ## Run test suites of other projects with our ciphers: SUITES="openssl pyca" (needs the network; long)
	@for suite in $(or $(SUITES),openssl cpython pyca rustcrypto); do scripts/suites.py $$suite || exit 1; done

.PHONY: budgets
budgets: ## Compare the instructions of 40 rows with speed/budgets.txt; UPDATE=1 writes the file
	@cargo test --release --no-run --quiet --locked $$(cargo xtask selection) --test program
	@$${CARGO_TARGET_DIR:-target}/release/lanecrypt speed --count --budgets speed/budgets.txt \
		$(if $(UPDATE),--update)

.PHONY: test-cross
test-cross: ## Test the libraries on s390x (big-endian) and arm64, by qemu, and the program; on arm64 OpenSSL and Python, too
	@cargo xtask cross

# The fuzz targets, and seconds for all of them together: `make fuzz FUZZ_SECONDS=3600`.
FUZZ_TARGETS = device key_der log nonce_sequence process seal_open settings streaming_splits
FUZZ_SECONDS = 300

.PHONY: fuzz
fuzz: ## Search for five minutes for inputs that break what must hold (needs cargo-fuzz and a nightly Rust)
	@for target in $(FUZZ_TARGETS); do \
		cargo +nightly fuzz run $$target -- \
			-max_total_time=$$(($(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)))) -max_len=2048 || exit 1; \
	done

# One test reads all memory of its processes, most of which is AddressSanitizer's own.
.PHONY: asan
asan: ## Test the daemon with hostile clients under AddressSanitizer (needs a nightly Rust)
	@RUSTFLAGS=-Zsanitizer=address cargo +nightly test --locked --target $$(rustc --print host-tuple) \
		-p lanecrypt-device --all-features --test device -- --skip isolation

.PHONY: miri
miri: ## Test what threads share in many orders of a weakly ordered machine (needs a nightly Rust with Miri)
	@scripts/miri.sh

.PHONY: setup
setup: ## Install what some tests use beyond Rust, gcc and make (Debian, Ubuntu)
	@scripts/setup.sh

.PHONY: peers
peers: ## Build a current OpenSSL to measure against, from its source crate (needs perl; some minutes)
	@scripts/peers.sh

.PHONY: fmt
fmt: ## Check the formatting of all three workspaces
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo fmt --manifest-path surfaces/python/Cargo.toml --check

.PHONY: lint
lint: fmt ## Formatting, lints and documentation, warnings being errors
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

.PHONY: msrv
msrv: ## Check the libraries by the oldest Rust that is supported
	@scripts/msrv.sh

.PHONY: features
features: ## Check every crate without features and with each feature alone
	@cargo xtask features --all

.PHONY: targets
targets: ## Check the libraries for fifteen systems and processors
	@cargo xtask targets --all

.PHONY: elsewhere
elsewhere: ## Run vectors and properties on 32-bit x86, arm64, s390x and WASI, by emulators
	@cargo xtask elsewhere --all

.PHONY: footprint
footprint: ## How much machine code a minimal program gains
	@scripts/footprint.sh

.PHONY: ci
ci: ## Everything that must hold before a change goes in
	@bash .ci/run

.PHONY: release-check
release-check: ## What only a release must pass, beside `make ci` and `make test-long` (an hour)
	cargo xtask features --all
	cargo xtask targets --all
	cargo xtask elsewhere --all
	cargo xtask cross
	scripts/msrv.sh --all
	scripts/footprint.sh
	scripts/miri.sh
	cargo xtask crates
	cargo xtask semver
	cargo deny --locked --all-features check
	cargo audit

.PHONY: release
release: ## Make what users install, into dist/: wheels, Debian packages, programs, crates (packaging/README.md)
	@cargo xtask release

.PHONY: test-release
test-release: ## Install and use what `make release` has made
	@cargo xtask release-test

.PHONY: c
c: ## Build the C library
	@scripts/c-install.sh

PREFIX = /usr/local
.PHONY: install
install: ## Install the C library below PREFIX (/usr/local), with its header and pkg-config file
	@scripts/c-install.sh "$(PREFIX)" "$(DESTDIR)"

.PHONY: test-c
test-c: ## Install the C library in a folder of its own, and test it with gcc, clang and Valgrind
	@scripts/c.sh

.PHONY: site
site: ## Write documents, pictures and charts as pages for any web server, into target/site
	@cargo build --release --quiet --locked
	@cargo xtask site $${CARGO_TARGET_DIR:-target}/release/lanecrypt $${CARGO_TARGET_DIR:-target}/site

.PHONY: test-page
test-page: ## Test the pages of `lanecrypt report` and `make site` in headless Chromium
	@scripts/page.sh
