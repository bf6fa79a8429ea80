# `make` lists what can be made.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEVICE      ?= sim
SKELETON    := exercises/asyncpipeline/asyncpipeline.go
FUZZTIME    ?= 10s

# Packages with a lesson's test.
LESSONS := $(patsubst %/lesson_test.go,./%,$(wildcard grader/suites/*/lesson_test.go))

# Go files outside of testdata, which holds wrong code on purpose.
GOFILES = $(shell find . -name '*.go' -not -path '*/testdata/*' -not -path './.*/*' -not -path './vendor/*')

.PHONY: help build demo test test-rest test-share test-all test-gpu test-windows test-arm64 fuzz matrix lesson browser \
	kernels bench form lint fmt clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# With the compiler's flags of what it packs for, nothing is compiled twice. HTTP/2, which nobody speaks here, is left
# out: 0.4 MB. Functions begin at multiples of 16 bytes and not of 32: 0.3 MB.
build: export CGO_ENABLED = 0
build: export GOFLAGS = -trimpath -buildvcs=false -gcflags=all=-dwarf=false
build: ## build bin/cudalab, with the course in it for `cudalab init`
	GOOS= GOARCH= go run ./grader/class/handout/pack bin/parcel
	go build -tags nethttpomithttp2 -overlay bin/parcel/overlay.json -ldflags='-s -w -funcalign=16' -o bin/cudalab ./cmd/cudalab

# The skeleton is not started, so its check ends with status 1; whoever has begun to write gets their own verdict.
demo: build ## see it work: what this machine has, a solution that passes, the exercise that waits for you
	@echo; echo '$$ bin/cudalab doctor'; bin/cudalab doctor
	@echo; echo '$$ bin/cudalab list'; bin/cudalab list
	@echo; echo '$$ bin/cudalab check async-pipeline --solution'; bin/cudalab check async-pipeline --solution
	@echo; echo '$$ bin/cudalab check async-pipeline'; bin/cudalab check async-pipeline || [ $$? -eq 1 ]
	@! grep -q 'contract.TODO("1a")' $(SKELETON) || \
		bin/cudalab check async-pipeline --json | grep -q '"status": "not-started"'

# grader/proof/tests/halves.go says which test is in which half.
test: form ## say within minutes whether the tree is sound: every package, and a sample of what takes long; needs no GPU
	@go run ./grader/proof/tests quick

test-rest: lint ## what make test leaves: vet and staticcheck, the race detector, browsers, the other programs of the corpus
	@go run ./grader/proof/tests rest

test-share: lint ## of what make test leaves the linters and a quarter of the tests, which each commit draws anew
	@go run ./grader/proof/tests share

test-all: ## make test and make test-rest, one after the other
	@$(MAKE) test
	@$(MAKE) test-rest

test-gpu: build ## run the tests that need an NVIDIA GPU, and the checks of every solution on it
	go test -count=1 ./native/... ./kernels/... ./grader/...
	go test -count=1 ./grader/proof/conformance -device gpu
	go test -count=1 ./grader/judge/check $(LESSONS) -device gpu
	bin/cudalab check --all --solution --device gpu

fuzz: ## give each fuzz target FUZZTIME, a time or a number of inputs such as 1000x; go keeps what fails in its testdata/fuzz
	@grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z]*' . | sort | while IFS=: read -r file target; do \
		echo "$$(dirname "$$file") $${target#func }"; \
		go test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$$(dirname "$$file")" || exit 1; \
	done

test-windows: ## run the Windows binary under Wine, which a bare Debian is given first
	.ci/windows

test-arm64: ## run the arm64 binary and its tests under qemu, which a bare Debian is given first
	.ci/arm64

matrix: ## check every program of the corpus on DEVICE, sim or gpu, and print what became of them
	go test -count=1 $(LESSONS) -run '^TestLesson$$' -device $(DEVICE)
	@go run ./grader/proof/matrix $(DEVICE)

lesson: ## begin a lesson called NAME: its folders, with a first part that passes, and its entries; see lessons/authors
	@go run ./grader/proof/authoring/author new "$(NAME)"

browser: build ## write the course as a web site, which runs in a browser, into bin/browser
	bin/cudalab browser

kernels: ## compile the kernels to PTX again; needs the clang that kernels/build.sh names
	kernels/build.sh

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

form:
	@unformatted=$$(gofmt -l $(GOFILES)); \
	if [ -n "$$unformatted" ]; then echo "not formatted, make fmt does it:"; echo "$$unformatted"; exit 1; fi

# With the compiler's flags of the tests and of cudalab nothing is compiled twice. Vet starts a small process for each
# package, standard library included, and a tenth of their time goes into collecting garbage.
lint: export CGO_ENABLED = 0
lint: export GOFLAGS = -trimpath -gcflags=all=-dwarf=false
lint: form ## gofmt, go vet and staticcheck
	GOGC=400 go vet ./...
	go run $(STATICCHECK) ./...

fmt: ## format the Go files
	gofmt -w $(GOFILES)

clean: ## delete what was built here
	rm -rf bin
