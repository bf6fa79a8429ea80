# `make` lists what can be made.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEVICE      ?= sim
SKELETON    := exercises/asyncpipeline/asyncpipeline.go
FUZZTIME    ?= 10s

# Packages with a lesson's test.
LESSONS := $(patsubst %/lesson_test.go,./%,$(wildcard grader/suites/*/lesson_test.go))

# Packages with a goroutine or a lock, where alone the race detector has something to see, but for those whose tests mostly compute on one
# goroutine, or run whole programs: under it they take up to ten times as long, for nothing. What those run has tests of its own, and
# their own goroutines are raced in the tests that have them all.
LONG := $(addprefix ./,cmd/cudalab/cli grader/browser/site grader/class grader/class/intake grader/class/similar grader/class/slurm \
	grader/judge/check grader/proof/conformance grader/proof/flips grader/proof/mutants grader/report/pseudonyms native/sim)
CONCURRENT := '\bgo func\b|\.Go\(|^\s+go [a-zA-Z.]+\(|\bsync\.[CMPRW]|\batomic\.|\.Parallel\('
RACING = $(filter-out $(LONG),$(shell grep -lrE --include='*.go' $(CONCURRENT) cmd grader kernels native | grep -v /testdata/ | \
	xargs -n1 dirname | sort -u | sed 's,^,./,'))
RACED := -run '^(TestInterruptedAndGoneOnWith|TestShardsMergeToTheWhole|TestAheadChangesNothing|TestGoroutines)$$' ./grader/class \
	./grader/judge/check ./native/sim

# Go files outside of testdata, which holds wrong code on purpose.
GOFILES = $(shell find . -name '*.go' -not -path '*/testdata/*' -not -path './.*/*' -not -path './vendor/*')

# lint has vetted everything.
GOTEST = go test -vet=off -timeout 40m -json

.PHONY: help build demo test test-gpu test-windows test-arm64 fuzz matrix lesson browser kernels bench lint fmt clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

build: ## build bin/cudalab
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags='-s -w' -o bin/cudalab ./cmd/cudalab

# The skeleton is not started, so its check ends with status 1; whoever has begun to write gets their own verdict.
demo: build ## see it work: what this machine has, a solution that passes, the exercise that waits for you
	@echo; echo '$$ bin/cudalab doctor'; bin/cudalab doctor
	@echo; echo '$$ bin/cudalab list'; bin/cudalab list
	@echo; echo '$$ bin/cudalab check async-pipeline --solution'; bin/cudalab check async-pipeline --solution
	@echo; echo '$$ bin/cudalab check async-pipeline'; bin/cudalab check async-pipeline || [ $$? -eq 1 ]
	@! grep -q 'contract.TODO("1a")' $(SKELETON) || \
		bin/cudalab check async-pipeline --json | grep -q '"status": "not-started"'

# Every package is tested whatever becomes of the others; slowest fails if one has failed. What tests judge is large and soon garbage, as in
# cudalab itself.
test: export GOGC ?= 400
test: export GORACE ?= atexit_sleep_ms=0
test: lint ## check the code's form, run every test on the simulated device, say what took longest; needs no GPU
	@if $(CC) --version >/dev/null 2>&1; then \
		export CGO_ENABLED=1; \
		{ $(GOTEST) -race $(RACING); $(GOTEST) -race $(RACED); \
			$(GOTEST) $$(go list ./... | sed 's,^cudalab/,./,' | grep -vxF $(RACING:%=-e %)); }; \
	else \
		echo 'There is no C compiler here, which the race detector needs: the tests run without it.'; \
		CGO_ENABLED=0 $(GOTEST) ./...; \
	fi | go run ./grader/proof/slowest

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

lint: ## gofmt, go vet and staticcheck
	@unformatted=$$(gofmt -l $(GOFILES)); \
	if [ -n "$$unformatted" ]; then echo "not formatted, make fmt does it:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

fmt: ## format the Go files
	gofmt -w $(GOFILES)

clean: ## delete what was built here
	rm -rf bin
