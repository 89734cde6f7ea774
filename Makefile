# Shortcuts only: what takes more than a few lines stands in build/ as a script of its own.

GOARCH ?= $(shell go env GOARCH)
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
SO     ?= build/goblin.so

MODULES ?= /usr/lib/redis/modules

# The first version of glibc's symbols on each architecture. What is linked against it loads everywhere.
GLIBC_amd64 := GLIBC_2.2.5
GLIBC_arm64 := GLIBC_2.17
PTHREAD     := $(if $(GLIBC_$(GOARCH)),build/$(GOARCH)/libpthread.so.0)

LINK := -Wl,--version-script=$(CURDIR)/build/exports.map $(PTHREAD:%=$(CURDIR)/%) $(EXTRA_LINK)

.PHONY: build
build: need-go need-gcc $(PTHREAD) ## Build the module, build/goblin.so (the default)
	@# Moved into place: a server may have the old one mapped, and must not find it written over.
	@CGO_ENABLED=1 CC='$(CC)' GOARCH=$(GOARCH) go build -trimpath -buildvcs=false -buildmode=c-shared $(BUILDFLAGS) \
		-ldflags "-s -w -buildid= '-extldflags=$(LINK)'" -o $(SO).new ./cgo
	@rm $(SO).h; chmod 755 $(SO).new; mv $(SO).new $(SO); ls -l $(SO)

build/%/libpthread.so.0: build/old-glibc | need-gcc
	@build/old-glibc '$(CC)' $(GLIBC_$*) $@

.PHONY: run
run: build ## Start a redis-server with the module (PORT=6379, REDIS_SERVER=redis-server)
	@build/run

.PHONY: test
test: build ## Run all tests on one server (GOBLIN_SERVER=, the first line of build/servers)
	go test -count=1 ./...

.PHONY: test-all
test-all: build ## Run all tests, on every server of build/servers
	@build/test-all

.PHONY: test-variants
test-variants: need-go need-gcc ## Run the tests with other builds: ordinary export, race detector, sanitizer
	@build/test-variants

.PHONY: test-arm64
test-arm64: need-go ## Run the tests of the module for arm64, under qemu
	@build/test-arm64

.PHONY: bench
bench: build ## Measure against C, Lua, and the server's own commands (REDIS_SERVER=redis-server)
	@[ "$$REDIS_SERVER" ] || build/need redis-server redis-server
	go run ./tests/bench

.PHONY: install
install: ## Install the module that was built (MODULES=/usr/lib/redis/modules)
	@[ -f $(SO) ] || { echo '$(SO) is missing: make build, first' >&2; exit 1; }
	install -d $(DESTDIR)$(MODULES)
	install -m 755 $(SO) $(DESTDIR)$(MODULES)/goblin.so.new
	mv $(DESTDIR)$(MODULES)/goblin.so.new $(DESTDIR)$(MODULES)/goblin.so

.PHONY: dist
dist: need-go need-gcc ## Make the archives of a release, for amd64 and arm64
	@build/dist

.PHONY: lint
lint: need-go need-gcc ## Check format, vet, staticcheck, and that go.mod is tidy
	@unformatted=$$(go tool gofumpt -l .) && { [ -z "$$unformatted" ] || { echo "$$unformatted" >&2; exit 1; }; }
	go vet ./...
	go tool staticcheck ./...
	@build/lint-c
	go mod tidy -diff
	go mod verify

.PHONY: vulncheck
vulncheck: need-go need-gcc ## Look for known vulnerabilities in what is used (VULNDB=, a database of them)
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(VULNDB:%=-db=%) ./...

.PHONY: clean
clean: ## Remove what was built
	git clean -fdX build

.PHONY: help
help: ## Show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: need-go need-gcc
need-go:
	@command -v go >/dev/null || { echo 'go is missing: install Go 1.26 or newer, see go.dev/doc/install' >&2; exit 1; }
need-gcc:
	@build/need $(firstword $(CC)) 'gcc libc6-dev'
	@build/need ld binutils
