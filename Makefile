# make demo    see it work           make test     every unit test and the end-to-end suite
# make local   a local cloud to use  make check    what a change touches and what imports it
# make build   bin/sluice            make verify   everything else that is checked
# make test-console   the console's pages in Chromium (console/browsertest)
# make test-faults   batches while things go wrong, by seeds (docs/faults.md)
# make test-kills    batches while functions are killed: at each call, as in make verify, and also the sweep, and by chance
# make test-sam, make test-localstack   the same suite in other environments (docs/environments.md)
# make test-template   what AWS makes of the template; needs Python with venv, and a network
# make test-parquet    what pyarrow makes of Parquet files; needs Python with venv, and a network
# make docs    the reference of the interface, as one HTML page, and its description in one file
# make release   the command line for Linux and macOS, also as .deb and .rpm, with checksums, SBOM and third-party notices
# make test-clients   what generators of clients make of that file

.DEFAULT_GOAL := build
.PHONY: build tools demo test check verify local description docs bench bench-2gb bench-find lab lint clean programs functions format format-console vet staticcheck test-units test-races architectures test-duckdb test-rollback \
	test-e2e test-console test-faults test-kills vulncheck test-sam test-localstack sam-suite localstack-suite localstack sam-build test-clients test-template lint-template lint-template-newest test-parquet release

# One set of flags for products, tests, vet and staticcheck, and one workspace for all modules (go.work), so that each package is
# compiled once; the race detector alone needs a second build, with C. lambda.norpc leaves the former protocol of Lambda out. No
# program and no test keeps data for debuggers (-s -w), so the compiler writes none. The tools and raced tests collect less garbage,
# which saves a sixth and a twelfth of their time for a few hundred megabytes; the compiled code is the same.
LESS_GC := GOGC=400
export GOFLAGS := -trimpath -tags=lambda.norpc -gcflags=all=-dwarf=false "-ldflags=-s -w" "-toolexec=env $(LESS_GC)"
# Adds the tests that make verify alone runs, in files with the build tag verify.
VERIFY_TAG := -tags=lambda.norpc,verify
export CGO_ENABLED := 0
# Whatever the user's is, such as off.
export GOWORK := $(wildcard $(CURDIR)/go.work)

# The packages of all modules.
ALL := ./... ./local/... ./console/browsertest/...
STATIC := go build
PRETTIER := node bin/tools/console-check/node_modules/prettier/bin/prettier.cjs
GOVULNCHECK := GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod govulncheck
DYNOXIDE_CRATE := dynoxide-rs --version 3.2.0
# What make test-clients makes clients with, and how their tools are taken: from Maven, the Go module proxy, PyPI and npm.
CLIENT_TOOLS := OPENAPI_GENERATOR=7.25.0 OAPI_CODEGEN=v2.8.2 OGEN=v1.24.0 OPENAPI_PYTHON_CLIENT=0.29.1 SCHEMATHESIS=4.32.5 \
	OPENAPI_TYPESCRIPT=7.13.0 OPENAPI_FETCH=0.17.0 TYPESCRIPT=5.9.3 TYPES_NODE=20.19.25 REDOCLY=2.77.0 SPECTRAL=6.16.3
# Installs what the package-lock.json of a folder pins, each package by its digest, into a folder of its own below bin/tools; no package
# may run a script. Use: $(call npm_ci,FOLDER,OPTIONS,FOLDER OF THE LOCK).
npm_ci = mkdir -p bin/tools/$(1) && cp $(3)/package.json $(3)/package-lock.json bin/tools/$(1) && \
	npm ci --prefix bin/tools/$(1) --ignore-scripts --no-audit --no-fund --silent $(2)
# Installs what a requirements.txt with digests names into a virtual environment of Python. Use: $(call pip_install,ENVIRONMENT,OPTIONS).
pip_install = $(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes $(2)
PLATFORM := $(shell uname -s)-$(shell uname -m)
# This machine's processor as the template's parameter Arch names it.
MACHINE := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
# The race detector needs a C compiler. A raced program waits when it ends, a second unless told otherwise.
RACE := $(if $(shell command -v gcc || command -v clang),CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 $(LESS_GC) go test -race -vet=off,go test -vet=off)

build: tools functions programs

programs: bin/console/built
	@mkdir -p bin
	@$(STATIC) -o bin/sluice ./cmd/sluice
	@$(STATIC) -o bin/sluice-local ./local/cmd/sluice-local

# Without the revision, which would have every function linked again after a commit.
functions:
	@mkdir -p bin/functions
	@$(STATIC) -buildvcs=false -o bin/functions/ ./functions/...

tools: bin/dynoxide

# The page of the console, which is part of bin/sluice: esbuild bundles console/web, with Preact and uPlot, into console/assets.
CONSOLE_PAGE := $(shell find console/web -type f)
ESBUILD := NODE_PATH=bin/tools/console/node_modules node bin/tools/console/node_modules/esbuild/bin/esbuild
bin/console/built: $(CONSOLE_PAGE) bin/tools/console/installed
	@rm -f console/assets/*.* && mkdir -p bin/console
	@$(ESBUILD) console/web/main.tsx --bundle --splitting --format=esm --target=es2022 --minify --log-level=warning \
		--jsx=automatic --jsx-import-source=preact --tsconfig-raw='{}' --chunk-names='[name]-[hash]' --outdir=console/assets
	@cp console/web/index.html console/web/icon.svg console/assets
	@touch $@

bin/tools/console/installed: tools/console/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: what builds the console's page comes from npm (Debian: apt install npm)." >&2; exit 1; }
	@echo "Installing esbuild, Preact and uPlot, for the page of sluice console, from npm into bin/tools."
	@$(call npm_ci,console,--include=dev --include=optional,tools/console)
	@touch $@

# DuckDB, by which tests read Parquet files.
bin/tools/duckdb/installed: tools/duckdb/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: DuckDB, by which tests read Parquet files, comes as an npm package (Debian: apt install npm)." >&2; exit 1; }
	@echo "Installing DuckDB, which reads Parquet files in tests, from npm into bin/tools."
	@$(call npm_ci,duckdb,--include=optional,tools/duckdb)
	@touch $@

# The DynamoDB server of the local cloud and of the stores' tests.
bin/dynoxide: tools/package-lock.json
ifeq ($(PLATFORM),Linux-x86_64)
	@command -v npm >/dev/null || { echo "npm is missing: the DynamoDB server comes as an npm package (Debian: apt install npm)." >&2; exit 1; }
	@echo "Installing dynoxide, a DynamoDB server, from npm into bin/tools."
	@$(call npm_ci,dynoxide,--omit=dev,tools)
	@ln -sf tools/dynoxide/node_modules/@dynoxide/linux-x64/dynoxide $@
	@[ -x $@ ] || { echo "npm did not install @dynoxide/linux-x64: its configuration (npm config get omit) must not leave out optional packages." >&2; exit 1; }
else
	@command -v cargo >/dev/null || { echo "cargo is missing: on $(PLATFORM) the DynamoDB server is built from source, with Rust 1.88 or later (rustup.rs)." >&2; exit 1; }
	@mkdir -p bin/tools
	@echo "Building $(DYNOXIDE_CRATE), a DynamoDB server, with cargo into bin/tools (some minutes)."
	@cargo install $(DYNOXIDE_CRATE) --locked --quiet --no-default-features --features native-sqlite,http-server,cli --root bin/tools
	@ln -sf tools/bin/dynoxide $@
endif

demo: build
	@bin/sluice demo

local: build
	@bin/sluice local

# The browser in which the console's pages are tested, with the libraries that a machine may lack. npm has it for Linux on x86_64;
# elsewhere, and where the variable CHROMIUM names a program, the machine's own is used.
CHROMIUM_TOOL := $(if $(CHROMIUM),,$(if $(filter Linux-x86_64,$(PLATFORM)),bin/tools/chromium/installed))
bin/tools/chromium/installed: tools/chromium/package-lock.json tools/chromium/unpack.mjs
	@echo "Installing Chromium, in which the console's pages are tested, from npm into bin/tools."
	@rm -rf bin/tools/chromium && $(call npm_ci,chromium,--omit=dev,tools/chromium)
	@cd bin/tools/chromium && node $(CURDIR)/tools/chromium/unpack.mjs
	@touch $@

# Every unit test and the end-to-end suite once, but for the tests with the build tag verify.
test:
	@MAKE="$(MAKE)" tools/parts.sh test-units test-e2e

# What a change touches and what imports it.
check:
	@tools/check.sh

# Everything else that is checked. CI=1 has fewer seeds of faults and one client of those that are generated, and leaves out the
# console's pages, the release before, whose commit a clone may lack, and what takes longest with empty caches: races, and builds for
# other processors. The console's pages are tested where there is a browser: on Linux with x86_64, whose Chromium comes from npm, and on
# machines that have one.
BROWSER := $(or $(CHROMIUM),$(CHROMIUM_TOOL),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))
VERIFY := format vet staticcheck console-types lint-template test-duckdb test-kills test-faults test-clients \
	$(if $(CI),,test-rollback $(if $(BROWSER),test-console) architectures test-races)
verify:
	@MAKE="$(MAKE)" COUNT=$(or $(COUNT),$(if $(CI),10,20)) KILLS=$(or $(KILLS),once) CLIENTS="$(or $(CLIENTS),$(if $(CI),openapi-generator-java))" \
		tools/parts.sh $(VERIFY)

lint: format vet staticcheck console-types lint-template

format: bin/tools/console-check/installed
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "not formatted by gofmt:"; echo "$$files"; exit 1; }
	@$(PRETTIER) --log-level warn --check console/web || { echo "make format-console formats these files."; exit 1; }

# Formats the console's page as lint wants it.
format-console: bin/tools/console-check/installed
	@$(PRETTIER) --log-level warn --write console/web

vet:
	go vet $(VERIFY_TAG) $(ALL)

staticcheck:
	@cd tools && GOWORK=off go build -o ../bin/tools/staticcheck honnef.co/go/tools/cmd/staticcheck
	$(LESS_GC) bin/tools/staticcheck $(VERIFY_TAG) $(ALL)

# The types of the console's page; those of the interface are made from its description.
console-types: bin/console/types-checked

bin/console/types-checked: $(CONSOLE_PAGE) bin/console/api.d.ts bin/tools/console/installed
	@node bin/tools/console-check/node_modules/typescript/bin/tsc --noEmit -p console/web --incremental --tsBuildInfoFile bin/console/tsbuildinfo
	@touch $@

bin/console/api.d.ts: openapi/sluice.bundled.json bin/tools/console-check/installed
	@mkdir -p bin/console
	@node bin/tools/console-check/node_modules/openapi-typescript/bin/cli.js $< -o $@ >/dev/null
	@touch $@

# Asks the Go vulnerability database (vuln.go.dev), so it needs a network and is nightly.
vulncheck:
	$(GOVULNCHECK) ./...
	cd local && $(GOVULNCHECK) ./...

# Unit tests of all modules.
test-units: build
	go test -vet=off $$(go list ./... ./local/... | grep -v '/e2e$$')

# Packages in which goroutines start, under the race detector, but not where tests link the S3 server, which takes minutes to build
# with it. Of the command line the detector watches what it does at the same time: its scripts start hundreds of programs.
test-races: build
	$(RACE) -skip '$(NOT_RACED)' $$($(RACED))
	$(RACE) -run 'Bounded|Interrupted|Resumed' ./cmd/sluice/...

# The packages with a go statement, a WaitGroup or an errgroup in their files or those of their tests.
RACED := linking=$$(go list -test -f '{{if eq .Name "main"}}{{.ImportPath}} {{.Deps}}{{end}}' ./local/... | \
		awk '/github.com\/versity\/versitygw/ {sub(/\.test$$/, "", $$1); print $$1}') && \
	git grep -lE '^[[:space:]]*go (func|[a-zA-Z.]+)\(|sync\.WaitGroup|errgroup\.' -- '*.go' | xargs -n 1 dirname | sort -u | \
		grep -vE '^(lab|e2e|bench|console/browsertest|cmd)(/|$$)' | sed 's|^|sluice/|' | grep -vxF "$$linking"
# Tests that measure memory, which the race detector multiplies.
NOT_RACED := Heap|Alloc|Memory

test-e2e: build
	cd e2e && go test -vet=off -count=1 -timeout 30m

# Parquet files as DuckDB reads them.
test-duckdb: build bin/tools/duckdb/installed
	go test -vet=off -count=1 $(VERIFY_TAG) -run 'DuckDB|Parquet|VersionsSideBySide' ./shared/ingest/export/parquetfile ./e2e

# The release before this one, of tools/previous-release, reads what this one stores. A shallow clone lacks its commit.
test-rollback: build
	@commit=$$(tail -n 1 tools/previous-release) && { git cat-file -e $$commit^{commit} 2>/dev/null || git fetch --quiet --depth=1 origin $$commit; }
	go test -vet=off -count=1 $(VERIFY_TAG) -run 'TestThePreviousRelease' ./internal/repotest

# The functions and programs for the processor that this machine does not have, and the programs that SAM is given: for both, and the
# same of the same sources.
architectures:
	go test -vet=off -count=1 $(VERIFY_TAG) -run 'TestSAMBuilds(TheSame.*)?$$' ./internal/repotest
	GOARCH=$(if $(filter arm64,$(MACHINE)),amd64,arm64) go build ./functions/... ./cmd/... ./local/...
	GOOS=darwin go vet ./cmd/...

# The console's pages in Chromium, each test with a tenant and a console of its own (console/browsertest/doc.go). PAGES names tests, as -run does;
# PAGES_FLAGS are more flags of go test, such as -update, which writes screenshots.
test-console: build bin/tools/console-check/installed $(CHROMIUM_TOOL)
	cd console/browsertest && go test -count=1 -timeout 10m $(if $(PAGES),-run '$(PAGES)') . -args $(PAGES_FLAGS)

# Takes the pictures of docs/images/console, and prints how fast pages come.
console-pictures: build $(CHROMIUM_TOOL)
	@mkdir -p docs/images/console
	cd console/browsertest && go test -count=1 -run '^TestShow$$' -v . -args -show $(CURDIR)/docs/images/console

# What checks the console: axe-core in its pages; TypeScript and openapi-typescript, which check and make their types.
bin/tools/console-check/installed: tools/console-check/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: what checks the console comes from npm (Debian: apt install npm)." >&2; exit 1; }
	@echo "Installing axe-core, TypeScript and openapi-typescript, which check the console, from npm into bin/tools."
	@$(call npm_ci,console-check,--include=dev,tools/console-check)
	@touch $@

# Batches while things go wrong, by seeds (docs/faults.md). SEED=37 COUNT=1 replays one.
test-faults: build
	cd e2e && go test -vet=off -count=1 $(VERIFY_TAG) -timeout 120m -run 'TestFaults$$' -v . -args -fault-seed $(or $(SEED),1) -fault-seeds $(or $(COUNT),200)

# Batches, screenings and deliveries while functions are killed at each of their calls; unless KILLS=once, also the sweep at each of
# its calls, and all functions by chance.
test-kills: build
	cd e2e && go test -vet=off -count=1 $(VERIFY_TAG) -timeout 60m -run 'Kills' . $(if $(filter once,$(KILLS)),,-v -args -every-kill)

# The peers of the product, simulations and mutations, which are a module of their own: lab/Makefile has the targets that run them.
lab:
	@$(MAKE) --no-print-directory -C lab test

# What is made of openapi/*.yaml: the description in one file, and the Go types of requests and replies.
description:
	@mkdir -p bin
	@go run ./openapi/reference > bin/sluice.bundled.json && mv bin/sluice.bundled.json openapi/sluice.bundled.json
	@go run ./openapi/wire/generate

docs: bin/tools/redoc.js description
	@go run ./openapi/reference $< > bin/reference.html
	@echo "The reference is bin/reference.html. The description in one file, for programs, is openapi/sluice.bundled.json."

# Makes a client of the interface with each generator and takes a batch to PROCESSED with it. It needs a network; tools that
# are not installed are named in its table. CLIENTS="redocly oapi-codegen" does only some of its rows.
test-clients: build
	@$(CLIENT_TOOLS) openapi/clients/test.sh $(CLIENTS)

# Expands the template as AWS does, lints the result, creates it as a stack in memory, and looks up the documents' commands. What can be said of the
# template without Python is part of the unit tests: internal/repotest.
test-template: bin/tools/sam/installed
	cd tools/sam && ../../bin/tools/sam/bin/python -W ignore -m unittest test_template test_commands

# What SAM CLI and its cfn-lint say of the template, and whether what SAM makes of it refers to what exists; again after a change only.
lint-template: bin/tools/sam/linted

bin/tools/sam/linted: template.yaml samconfig.toml $(wildcard statemachine/* tools/sam/*) bin/tools/sam/installed
	@SAM_CLI_TELEMETRY=0 bin/tools/sam/bin/sam validate --lint --config-env local
	@cd tools/sam && ../../bin/tools/sam/bin/python -W ignore -m unittest test_template.References
	@touch $@

# The same with the newest cfn-lint, which a pinned one may lag behind: it is installed beside the pinned tools, in a copy of them.
lint-template-newest: bin/tools/sam/installed
	@rm -rf bin/tools/sam-newest && python3 -m venv bin/tools/sam-newest
	@$(call pip_install,bin/tools/sam-newest,--only-binary :all: -r tools/sam/requirements.txt)
	@bin/tools/sam-newest/bin/pip install --quiet --disable-pip-version-check --upgrade cfn-lint
	@SAM_CLI_TELEMETRY=0 bin/tools/sam-newest/bin/sam validate --lint --config-env local

# Has pyarrow, and a newer DuckDB than that of make verify, read Parquet files of two versions.
test-parquet: bin/tools/duckdb/installed bin/tools/parquet/installed
	@rm -rf bin/parquet && mkdir -p bin/parquet && cp shared/ingest/export/parquetfile/testdata/version-1.parquet bin/parquet
	go test -count=1 $(VERIFY_TAG) ./shared/ingest/export/parquetfile -run TestVersionsSideBySide -args -keep $(CURDIR)/bin/parquet
	cd tools/parquet && ../../bin/tools/parquet/bin/python -m unittest test_parquet

# pip installs what tools/parquet/requirements.txt pins, each file by its digest.
bin/tools/parquet/installed: tools/parquet/requirements.txt
	@python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "Python with venv is missing (Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Installing pyarrow and DuckDB from PyPI into bin/tools/parquet."
	@rm -rf bin/tools/parquet && python3 -m venv bin/tools/parquet
	@bin/tools/parquet/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

bin/tools/redoc.js: tools/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: the renderer of the reference comes as an npm package (Debian: apt install npm)." >&2; exit 1; }
	@echo "Installing redoc, which renders OpenAPI, from npm into bin/tools."
	@$(call npm_ci,redoc,--include=dev --omit=optional,tools)
	@cp bin/tools/redoc/node_modules/redoc/bundles/redoc.standalone.js $@

# The suite in other environments (docs/environments.md). What they need is installed below bin/tools and started for the suite. The output of go
# test is not filtered: it lists what was not checked there.
test-sam: build bin/tools/sam/installed bin/tools/duckdb/installed
	@bin/tools/sam/bin/python tools/sam/engine.py $(MAKE) --no-print-directory --old-file=build sam-suite

sam-suite: sam-build
	cd e2e && go test -vet=off -count=1 $(VERIFY_TAG) -timeout 60m -args -environment sam

test-localstack: build bin/tools/sam/installed bin/tools/localstack/installed bin/tools/duckdb/installed
	@$(LOCALSTACK) $(MAKE) --no-print-directory --old-file=build localstack-suite

localstack-suite: sam-build
	cd e2e && go test -vet=off -count=1 $(VERIFY_TAG) -timeout 60m -args -environment localstack

# LocalStack alone, until Ctrl-C.
localstack: bin/tools/localstack/installed
	@$(LOCALSTACK)

LOCALSTACK := bin/tools/localstack/bin/python tools/localstack/run.py

sam-build: export ARCH = $(MACHINE)
sam-build: export SAM_CLI_TELEMETRY = 0
sam-build: bin/tools/sam/installed
	bin/tools/sam/bin/sam build --config-env local --parameter-overrides Arch=$(MACHINE)

# SAM CLI, with the cfn-lint and the SAM translator that it uses, and moto: each file by its digest.
bin/tools/sam/installed: tools/sam/requirements.txt
	@python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "Python with venv is missing (Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Installing SAM CLI, cfn-lint and moto from PyPI into bin/tools/sam."
	@rm -rf bin/tools/sam && python3 -m venv bin/tools/sam
	@$(call pip_install,bin/tools/sam,--only-binary :all: -r $<)
	@touch $@

# LocalStack 4.14, which needs Python 3.13, and a DynamoDB server. One of its packages has no wheel; what that is built with is pinned, too.
bin/tools/localstack/installed: tools/localstack/requirements.txt tools/localstack/requirements-build.txt bin/dynoxide
	@python=$$(tools/localstack/python.sh) && echo "Installing LocalStack from PyPI into bin/tools/localstack." && \
		rm -rf bin/tools/localstack && $$python -m venv bin/tools/localstack
	@$(call pip_install,bin/tools/localstack,--only-binary :all: -r tools/localstack/requirements-build.txt)
	@$(call pip_install,bin/tools/localstack,--no-build-isolation -r $<)
	@touch $@

# The command line for other machines, as archives and packages with SBOM, notices and checksums, in dist/. The version is that of
# the tag, if there is one.
release: bin/console/built bin/tools/release/installed
	@tools/release/release.sh

# nfpm, which makes packages, and cyclonedx-gomod, which makes the SBOM.
bin/tools/release/installed: tools/release/go.mod tools/release/go.sum
	@echo "Building nfpm and cyclonedx-gomod into bin/tools (a minute)."
	@mkdir -p bin/tools/release && cd tools/release && GOFLAGS= GOWORK=off go build -ldflags "-s -w" -o ../../bin/tools/release/ tool
	@touch $@

bench: programs functions
	cd bench && go build -o ../bin/bench . && ../bin/bench $(BENCH)

# Batches of full size through a local cloud: seconds of each stage, memory of each function, and ingestion beside a bare loop of
# writes. It takes an hour and about 15 GB of disk; FULL="-scale 0.01 -cases realistic" takes less.
bench-2gb: build
	cd bench && go build -o ../bin/bench-2gb ./full && ../bin/bench-2gb $(FULL)

# How long a search by an ID takes over the lines of 10,000 batches. It takes some minutes.
bench-find: programs functions
	cd bench && go build -o ../bin/bench-find ./find && ../bin/bench-find $(FIND)

clean:
	rm -rf bin dist .aws-sam

# SAM calls these (BuildMethod: makefile), with ARTIFACTS_DIR; it does not say for which processor: export ARCH as the template's
# parameter Arch. A function with a program for the other processor would be deployed and fail at its first event.
ARCH ?= arm64
# The machines of programs, as the first byte of e_machine in their ELF header says it.
ELF_arm64 := b7
ELF_x86_64 := 3e

# A function's folder is the Program of its Metadata in the template, by default its logical ID in lower case.
program = $(shell sed -n '/^  $(1)Function:/,/Metadata:/s/.* Program: \([a-z]*\).*/\1/p' template.yaml)
lower_case = $(shell echo '$(1)' | tr '[:upper:]' '[:lower:]')

# The same sources give the same program, in whichever commit, so that a deployment changes only the functions that changed.
build-%Function:
	@[ -n "$(ELF_$(ARCH))" ] || { echo "ARCH=$(ARCH) is not known: export ARCH=arm64 or ARCH=x86_64." >&2; exit 1; }
	@given=$$(tools/samarch.sh $$PPID); [ "$${given:-$(ARCH)}" = "$(ARCH)" ] || { \
		echo "SAM is given Arch=$$given, but make builds for $(ARCH): export ARCH=$$given." >&2; exit 1; }
	@GOOS=linux GOARCH=$(if $(filter x86_64,$(ARCH)),amd64,$(ARCH)) $(STATIC) -buildvcs=false \
		-o "$(ARTIFACTS_DIR)/bootstrap" ./functions/$(or $(call program,$*),$(call lower_case,$*))
	@[ "$$(od -An -tx1 -j18 -N1 "$(ARTIFACTS_DIR)/bootstrap" | tr -d ' ')" = "$(ELF_$(ARCH))" ] || { \
		echo "The program of $*Function is not one for $(ARCH)." >&2; rm -f "$(ARTIFACTS_DIR)/bootstrap"; exit 1; }
