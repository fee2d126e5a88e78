# The commands of this project. `make test` installs what the tests need and runs them all.

GO    ?= go
TOOL   = $(GO) tool -modfile=tools/go.mod
BENCH ?= .
COUNT ?= 1
FUZZTIME ?= 10s
SOAKTIME ?= 30s
SOAK ?= $(SOAKTIME)
CHART  = deploy/helm/secateur --set secrets.authToken.name=token --set secrets.redisUrl.name=redis

export CGO_ENABLED ?= 1
# Without paths in what is compiled, the build cache serves every checkout.
export GOFLAGS ?= -trimpath

.PHONY: build test quick check fmt bench eval fuzz mutants soak scale sbom chart image release clean

build: ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/secateur ./cmd/secateur

# A program with the race detector sleeps for a second before it exits, so that other goroutines may race on: of some seventy it is a minute.
test: export GORACE ?= atexit_sleep_ms=20
test: test/.ready ## everything, race detector on; the longest package first; vet is in check
	$(GO) test -race -vet=off -timeout 15m ./test ./...

quick: ## the loop of an engineer who changes a line: all but the end-to-end tests, no race detector
	$(GO) test -short -vet=off $$($(GO) list ./... | grep -v '^secateur/test')

# Debian packages and npm packages that the tests need, installed if they are missing.
test/.ready: test/setup.sh test/npm/package-lock.json web/package-lock.json
	sh test/setup.sh
	@touch $@

check: ## format, lint with all that vet finds, comments that are hard to read, and that it compiles for the other systems
	$(TOOL) golangci-lint fmt --diff
	$(TOOL) golangci-lint run ./...
	$(GO) run ./test/prose
	@# nothing of this is run: without inlining it compiles faster
	GOOS=darwin CGO_ENABLED=0 $(GO) vet -gcflags=all=-l ./cmd/... ./internal/...
	GOOS=windows CGO_ENABLED=0 $(GO) vet -gcflags=all=-l ./cmd/... ./internal/...
	@# a plan is the same on every machine: no instruction that multiplies and adds with one rounding
	! GOARCH=arm64 CGO_ENABLED=0 $(GO) build -gcflags=-S -o /dev/null ./internal/prune ./internal/llm/tokens 2>&1 | grep -E 'FN?M(ADD|SUB)'

fmt: ## formats the source
	$(TOOL) golangci-lint fmt

bench: ## speed, as ratios to limits taken in the same run; BENCH=Mask for some of them
	$(GO) run ./test/bench -run '$(BENCH)' -count $(COUNT)

# The larger data if it is there, else the small data of this repository; reports in docs/ are written from the larger alone.
EVALDATA ?= $(if $(wildcard ../shared/evaldata),../shared/evaldata,test/evaldata)
SMALL = $(filter test/evaldata,$(EVALDATA))

eval: export EVALDATA := $(EVALDATA)
eval: ## quality on the data of EVALDATA (default ../shared/evaldata, else test/evaldata); see docs/reproduce.md
	$(GO) run ./test/eval $(if $(SMALL),-folds 0 -doc '')
	$(if $(SMALL),,$(GO) run ./test/eval -tools)
	$(GO) run ./test/evalbill
	$(GO) run ./test/evalformats
	$(if $(SMALL),,EVALDATA=$$(realpath $(EVALDATA)) $(GO) test -count=1 -run Agrees ./internal/llm/replay)

fuzz: ## every fuzz target for FUZZTIME (10s); FUZZ=Cuts for some of them
	FUZZTIME=$(FUZZTIME) FUZZ=$(FUZZ) sh test/fuzz.sh

mutants: ## takes each guard of a list out in turn and expects red, then DRAW (40) more at random; MUTANT=body for some of the list, SEED=20260728 to repeat a draw
	$(GO) run ./test/mutants -run '$(MUTANT)' $(if $(DRAW),-draw $(DRAW)) $(if $(SEED),-seed $(SEED))

soak: build ## attacks on a program bounded in memory, then three replicas whose Redis comes and goes, each for SOAK (30s), over loopback
	$(GO) run ./test/soak -time $(SOAK)
	$(GO) run ./test/soak -time $(SOAK) -replicas 3

scale: build ## one, two and three replicas: throughput, p99, Redis commands, and what a unit of work costs
	$(GO) run ./test/soak -scale -time 4s

sbom: ## bin/secateur.cdx.json and bin/THIRD_PARTY_NOTICES: what is in the binary, under which licences
	$(GO) run ./test/sbom

chart: ## lints and renders the Helm chart and holds it against Kubernetes' schemas, with tools built from their sources
	for more in '' '--set autoscaling.enabled=true --set serviceMonitor.enabled=true'; do \
		$(GO) run helm.sh/helm/v3/cmd/helm@v3.22.0 lint --strict $(CHART) && $(GO) run helm.sh/helm/v3/cmd/helm@v3.22.0 template test $(CHART) $$more >/dev/null || exit 1; \
	done
	mkdir -p bin/chart && $(GO) run helm.sh/helm/v3/cmd/helm@v3.22.0 template test $(CHART) --set autoscaling.enabled=true >bin/chart/all.yaml
	$(GO) run sigs.k8s.io/kubectl-validate@v0.0.4 --version 1.30 bin/chart

image: ## builds and runs the image of deploy/Dockerfile, as root, with Debian's buildah and busybox-static; port 8000 must be free
	sh test/image.sh

release: ## dist/: archives, npm and Debian packages, checksums, SBOM, provenance, Homebrew formula, Scoop and winget manifests; RELEASE_URL is where they will be, ONLY=linux/amd64 makes some
	$(GO) run ./test/release -o dist -url '$(RELEASE_URL)' -only '$(ONLY)'
	cd dist && sha256sum -c --quiet checksums.txt
	! command -v ruby >/dev/null || ruby -c dist/secateur.rb

clean:
	rm -rf bin dist test/.ready test/artifacts test/npm/node_modules
