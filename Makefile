# `make help` lists the targets, for users and for maintainers. Two commands matter most: `make demo` and `make test`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --warn-undefined-variables --no-print-directory

VERSION ?= 0.1.0
REGISTRY ?= registry.example.com
IMG ?= $(REGISTRY)/memcached-operator:$(VERSION)
# The agent has a separate version. By default, its image is in the same registry as the operator's image.
AGENT_VERSION := $(shell cat operator/cmd/agent/VERSION)
AGENT_IMG ?= $(patsubst ./%,%,$(dir $(IMG)))memcached-agent:$(AGENT_VERSION)
SNAPSHOT_IMG ?= $(patsubst ./%,%,$(dir $(IMG)))memcached-snapshot:$(VERSION)
ifeq ($(findstring :,$(notdir $(IMG))),)
$(error IMG=$(IMG) has no tag: write IMG=$(IMG):$(VERSION))
endif
ARCH ?= $(shell go env GOARCH)
# CHOSEN_ARCH is ARCH if a user has set it. Otherwise it is empty, because the architecture of this machine says nothing
# about the Nodes of a cluster.
CHOSEN_ARCH := $(if $(filter file default,$(origin ARCH)),,$(ARCH))
CONTAINER_TOOL ?= docker
ARGS ?=

# These are the flags with which images are built, so that `go run`, tests and images share compiled packages.
export CGO_ENABLED := 0
export GOFLAGS += -trimpath
# How long an API server of a test may take to start. By default, envtest waits 20 s, and a loaded machine needs longer.
export KUBEBUILDER_CONTROLPLANE_START_TIMEOUT := 2m
# With FAST, the compiler collects garbage less often, so it takes a fifth less time, and a third more memory.
FAST := $(if $(filter undefined,$(origin GOGC)),GOGC=400 GOMEMLIMIT=3GiB)

comma := ,
TOOL := go tool -modfile=scripts/tools/go.mod
TOOLS := $(CURDIR)/scripts/tools/go.mod
# These Go modules have code of this project. The modules in scripts/cluster/builds and scripts/tools only pin programs
# of other projects, and the module in test/docs/crds pins CRDs of other projects.
MODULES := . operator/cmd/snapshot scripts/gitops test/helm test/clients/recipes

##@ For users: See it work

.PHONY: help
help: ## Show this help.
	@for group in users maintainers; do awk -v group="For $$group" 'BEGIN {FS = ":.*##"; printf "\n\033[1m%s\033[0m\n", group} \
		/^##@/ {shown = index($$0, "##@ " group ": ") == 1; if (shown) printf "\n %s\n", substr($$0, length(group) + 7)} \
		shown && /^[a-zA-Z0-9_-]+:.*##/ {printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST); done
	@printf '\nVariables: VERSION=$(VERSION) REGISTRY=$(REGISTRY) IMG=... AGENT_IMG=...\n'
	@printf '           ARCH=$(ARCH) (or another; to install, also multiarch or openshift)\n'

.PHONY: demo
demo: ## Show it on a new cluster on this machine (root, Linux). CLUSTER=kind or current.
	@echo 'The demo is compiled first. This takes some minutes on a new machine, and seconds later.'
	@$(FAST) $(if $(filter kind,$(CLUSTER)),METHOD='$(METHOD)' scripts/demo/kind.sh,\
		go run ./scripts/demo '$(CLUSTER)' $(DEMO_OPTIONS_$(CLUSTER)) $(ARGS))

CLUSTER ?= local
# The demo gets REGISTRY only if a user has set it, because nobody can push to the example registry.
DEMO_REGISTRY := $(if $(filter file default,$(origin REGISTRY)),,$(REGISTRY))
DEMO_OPTIONS_current = --method '$(METHOD)' --repo '$(REPO)' --arch '$(CHOSEN_ARCH)' --registry '$(DEMO_REGISTRY)'
DEMO_OPTIONS_local :=

.PHONY: demo-down
demo-down: ## Stop the demo and leave the machine as it was.
	@$(FAST) go run ./scripts/cluster down $(ARGS)

##@ For maintainers: Test

# How long a test waits for something that normally takes milliseconds, unless the test sets a time. It is so long
# because other tests run at the same time.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT ?= 2m

# Make 3, which macOS has, can't separate the output of targets that run at the same time.
in-sync = $(if $(filter output-sync,$(.FEATURES)),--output-sync=$1)

.PHONY: test
test: ## Run every test that needs no root; ARGS='-run TestName' chooses. See also check.
	@# The first target shows its progress. The output of the other target appears when it ends.
	@$(MAKE) --jobs=2 $(call in-sync,target) live-tests $(if $(ARGS),module-tests,checks)

.PHONY: live-tests
live-tests:
	@+$(MAKE) $(call in-sync,none) go-tests

.PHONY: checks
checks:
	@$(MAKE) gitops-verify
	@$(MAKE) module-tests

.PHONY: go-tests
go-tests:
	@# -count=1, because Go's cache does not know of the programs that tests build and run. -vet=off, because lint vets,
	@# too. The longest packages come first. Many tests of a package run at the same time, because they mostly wait.
	@KUBEBUILDER_ASSETS="$$(go run ./scripts/cluster assets)" $(FAST) $(TOOL) gotestsum --format pkgname-and-test-fails -- \
		$(UNHURRIED) -vet=off -count=1 -parallel 14 -timeout 20m ./test/integration ./... $(ARGS)

.PHONY: module-tests
module-tests:
	@for module in $(filter-out .,$(MODULES)); do ( cd "$$module" && $(FAST) go tool -modfile='$(TOOLS)' \
		gotestsum --format pkgname-and-test-fails -- -vet=off -count=1 ./... $(ARGS) ); done

# FAST is only for the compiler. Tests run without it, because users run the operator without it, and tests measure its
# memory.
UNHURRIED := $(if $(FAST),-exec 'env -u GOGC -u GOMEMLIMIT')

# Only make soak tries new inputs. The tests before a landing (a merge into main) try only the committed inputs, so that
# they fail only because of the changes that land. FUZZTIME is a number of inputs and not a duration, because before Go
# 1.27, a run with a duration sometimes ends with "context deadline exceeded" although it has found nothing
# (go.dev/issue/75804).
FUZZTIME ?= 1000x

.PHONY: fuzz
fuzz: ## Fuzz the pure steps. FUZZTIME=1000x means 1000 inputs. Commit testdata/fuzz.
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' operator); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' "$$file"); do \
			$(FAST) go test "./$$(dirname "$$file")" -vet=off -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) \
				-fuzzminimizetime 10x \
				| awk -v target="$$target" '/^fuzz: elapsed/ {last = $$0; next} {print} END {print target ": " last}'; \
		done; \
	done

# If only SEED is set, it is one seed, or a range of seeds. If MINUTES is set, too, or if neither is set, the seeds
# after SEED follow until the time is over. WORKERS is how many seeds run at the same time.
SEED ?= 1
MINUTES ?= $(if $(filter file,$(origin SEED)),10)
WORKERS ?=

.PHONY: faults
faults: ## Run the operator under faults that seeds choose: SEED=17, 1..20, new; MINUTES=.
	@go run ./test/faults run --seeds '$(SEED)' $(if $(MINUTES),--minutes '$(MINUTES)') \
		$(if $(WORKERS),--workers '$(WORKERS)') $(ARGS)

.PHONY: faults-cluster
faults-cluster: ## Run make faults with real Pods and their clients (root, Linux): SEED=, MINUTES=.
	@go run ./scripts/cluster needs e2e --install
	@$(MAKE) faults ARGS="--real $(ARGS)"

# These variables leave out tests that take long, or that need the whole machine. make soak runs these tests.
SHORT := -short
ALONE := TestClientsOfOtherProjects|TestFaultsOf.*FireTheirAlerts

E2E = $(TOOL) gotestsum --format standard-verbose -- -tags e2e -timeout 60m -count 1

# tagged is a flag that runs only the tests with the tag e2e of some packages, because `make test` runs their other
# tests.
tagged = -run '^($(or $(shell grep -l '^//go:build e2e' $(1:=/*_test.go) | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\).*/\1/p' \
	| paste -sd '|'),$(error no test has the tag e2e in $1)))$$'

.PHONY: e2e
e2e: ## Run the end-to-end tests: a real cluster with Argo CD (root, Linux).
	@go run ./scripts/cluster needs e2e --install
	@# These tests keep processes of memcached busy, so they have the machine for themselves.
	@$(E2E) -p 1 -parallel 8 $(SHORT) ./operator/internal/memcached ./operator/internal/agent/handoff ./operator/internal/agent/bootstrap \
		./operator/internal/agent/resize ./operator/internal/agent/slot ./operator/internal/agent/watch ./test/client ./internal/testing/memcachedtest $(ARGS)
	@# All tests may begin at the same time. Some wait for the test that has the cluster for itself, whose subtests must be
	@# able to run, too.
	@$(E2E) -parallel 32 $(SHORT) ./test/e2e $(if $(findstring -run,$(ARGS)),,-skip '$(ALONE)|^TestGitOps$$') $(ARGS)
	@# These targets mostly wait; TestGitOps, for example, waits for Argo CD. The first target shows its progress. The
	@# output of the others appears when they end.
	@$(MAKE) --jobs=3 $(call in-sync,target) live-e2e e2e-clusters e2e-programs

.PHONY: e2e-all
e2e-all: ## Run make e2e, and also the tests that are too long for each landing.
	@$(MAKE) e2e SHORT=

.PHONY: live-e2e
live-e2e:
	@+$(MAKE) $(call in-sync,none) e2e-gitops

.PHONY: e2e-gitops
e2e-gitops:
	@$(if $(findstring -run,$(ARGS)),,$(E2E) $(SHORT) ./test/e2e -run '^TestGitOps$$' $(ARGS))

# These packages run one at a time, because some use the same cluster.
CLUSTERS := ./scripts/demo ./test/tutorial ./scripts/cluster/local ./test/placement ./test/bench/scenarios ./test/fleet

.PHONY: e2e-clusters
e2e-clusters:
	@$(E2E) -p 1 -parallel 32 $(SHORT) $(CLUSTERS) $(call tagged,$(CLUSTERS)) $(ARGS)

PROGRAMS := ./test/release ./scripts/release/cut ./scripts/rebrand ./operator/internal/agent ./operator/internal/agent/snapshot \
	./operator/internal/plugin/commands

.PHONY: e2e-programs
e2e-programs:
	@for module in operator/cmd/snapshot test/helm; do ( cd "$$module" && go tool -modfile='$(TOOLS)' \
		gotestsum --format standard-verbose -- -tags e2e -timeout 40m -count 1 ./... $(ARGS) ); done
	@$(E2E) -p 1 -parallel 32 $(SHORT) $(PROGRAMS) $(call tagged,$(PROGRAMS)) $(ARGS)

# The two packages run one after another, because the release in the second package needs the programs that the first
# package has compiled for each architecture. Neither package is part of e2e, because compiling would slow down the
# tests there, which communicate with Pods.
.PHONY: e2e-arch
e2e-arch: ## Test images and a release for all architectures (root, Debian or Ubuntu).
	@go run ./scripts/cluster needs e2e-arch --install
	@$(E2E) -p 1 ./test/arch ./test/install $(ARGS)

# Write the results of a soak into docs/reliability.md.
.PHONY: soak
soak: ## Run the tests that are too long for each landing, for hours (root, Linux).
	@$(MAKE) fuzz FUZZTIME=50000x
	@$(MAKE) faults SEED=new MINUTES=120
	@$(MAKE) faults ARGS=--every-write
	@$(MAKE) faults-cluster SEED=new MINUTES=30
	@go run ./test/faults load
	@$(MAKE) go-tests ARGS='-tags certmanager -run TestCertManagerItself'
	@$(TOOL) gotestsum --format standard-verbose -- -tags karpenter -timeout 60m -count 1 ./test/karpenter
	@$(MAKE) e2e-all
	@$(MAKE) e2e-arch
	@$(E2E) ./test/e2e -run 'TestFaultsOf.*FireTheirAlerts'
	@$(E2E) ./test/e2e -run TestReplacedPodsKeepTheirKeys -args -slot-writes 20000
	@$(MAKE) clients
	@$(MAKE) bench ARGS='--only large'

.PHONY: ci
ci: ## Run what CI runs, in clean clones, and write how long it took (root, Debian).
	@.ci/run --page CONTRIBUTING.md

.PHONY: bench
bench: ## Measure, into docs/performance.md: ARGS='--only create' chooses, PROFILE=1.
	@go run ./test/bench --page docs/performance.md $(if $(PROFILE),--profiles bin/profiles) $(ARGS)

PROFILE ?=

.PHONY: clients
clients: ## Measure libraries of other projects, into docs/clients.md (root, Linux).
	@go run ./scripts/cluster needs e2e --install
	@$(E2E) ./test/e2e -parallel 5 -run TestClientsOfOtherProjects -args -update-clients

.PHONY: lint
lint: dead ## Run the linters, find functions that nothing calls, and check the workflows.
	@go tool -modfile=scripts/tools/actionlint.mod actionlint -shellcheck= -pyflakes= .github/workflows/*.yaml
	@for module in $(MODULES); do \
		( cd "$$module" && go tool -modfile='$(TOOLS)' golangci-lint run -c '$(CURDIR)/.golangci.yaml' ./... ); done

# deadcode exits with 0 even if it finds something.
.PHONY: dead
dead:
	@for module in $(MODULES); do \
		found="$$(cd "$$module" && go tool -modfile='$(TOOLS)' deadcode -test -tags e2e ./...)"; \
		if [ -n "$$found" ]; then printf 'Nothing calls these functions: remove them, or call them.\n%s\n' "$$found"; exit 1; fi; \
	done

# Each module except the first has its folder inside the folder of another module, so CHANGED leaves out these folders.
# Deleted files are left out, because they are in no package.
CHANGED := '*.go' $(patsubst %,':(exclude)%',$(filter-out .,$(MODULES)))

.PHONY: lint-changed
lint-changed:
	@for module in $(MODULES); do ( cd "$$module"; \
		changed="$$(git diff --name-only --relative --diff-filter=d HEAD -- $(CHANGED); git ls-files --others --exclude-standard -- $(CHANGED))"; \
		if [ -n "$$changed" ]; then xargs -d '\n' dirname <<<"$$changed" | sed 's|^|./|' | sort -u | \
			xargs -d '\n' go tool -modfile='$(TOOLS)' golangci-lint run -c '$(CURDIR)/.golangci.yaml'; fi ); done

.PHONY: check
check: ## Check words, generated files and changed code, in a minute: before a commit.
	@$(MAKE) --jobs=2 $(call in-sync,target) verify golden lint-changed

.PHONY: golden
golden:
	$(call golden,)
	@go test ./scripts/versions/... ./test/olm -run 'TestTheRepositoryAgrees|TestTheBundle'

.PHONY: verify
verify: ## Check words, the size of files, and that generated files are up to date.
	@go run ./scripts/verify

# The path of the site's address, such as /memcached-operator/.
BASE ?= /

.PHONY: site
site: ## Build the pages as a website into bin/site (needs npm): BASE=/its/path/.
	@go run ./scripts/site --base '$(BASE)' $(ARGS)

.PHONY: site-test
site-test: ## Build the website and read it in a browser (needs npm, Chromium or Chrome).
	@$(FAST) go test ./test/site -tags e2e -vet=off -count=1 -timeout 20m $(ARGS)

##@ For maintainers: Change

.PHONY: generate
generate: from-types ## Write all generated files again. Read the diff.
	@go run ./scripts/versions --write
	@go run ./scripts/release renew
	$(call golden,-update)

# These tests compare generated files, or write them with -update. Several write the same page, so they run one after
# another.
define golden
	@go test ./operator/internal/render -run 'TestObjectsMatchTheirGoldenFiles|TestEveryField|TestTheDocs' $1
	@go test ./operator/internal/agent ./operator/internal/metrics ./test/crd -run TestTheDocs $1
	@go test -p 1 ./operator/internal/controller ./operator/internal/plan ./operator/internal/status -run TestTheDocs $1
	@go test ./test/monitoring -run 'TestTheDocs|TestThePrometheusRule' $1
	@go test ./operator/internal/plugin/screen ./operator/internal/plugin/cause -run TestTheDocsShow $1
	@go test ./scripts/release/chart ./operator/internal/plugin/commands ./test/faults ./test/docs -run TestTheDocs $1
	@go test ./test/faults/model -run TestTheModelKnows $1
	@go -C scripts/gitops test . ./tree -run 'Plans|Diffs|TheRootOfEachCluster' $1
endef

# These are the generated files that verify compares. Tests compare the other generated files.
.PHONY: from-types
from-types: manifests
	@$(TOOL) controller-gen object paths=./operator/api/...
	@go test ./operator/internal/apply -run TestTheSchema -update
	@$(TOOL) crd-ref-docs --source-path=operator/api --config=docs/.api-reference/config.yaml --log-level=ERROR \
		--templates-dir=docs/.api-reference --renderer=markdown --output-path=docs/api-reference.md

.PHONY: manifests
manifests: ## Write only the CRD and the role of the operator. A part of generate.
	@$(TOOL) controller-gen crd paths=./operator/api/... output:crd:artifacts:config=operator/config/crd/bases
	@$(TOOL) controller-gen rbac:roleName=manager-role paths=./operator/... output:rbac:artifacts:config=operator/config/rbac

.PHONY: rebrand
rebrand: ## Give a fork other names: MODULE= GROUP= REGISTRY= NAME= (docs/forking.md).
	@go run ./scripts/rebrand $(call given,module,MODULE) $(call given,group,GROUP) \
		$(call given,registry,REGISTRY) $(call given,name,NAME) $(ARGS)

# given uses only variables that the command line sets, because the environment may have a NAME or a REGISTRY for
# another purpose.
given = $(if $(findstring command,$(origin $(2))),--$(1) '$($(2))')

##@ For users: Build and push

# PLATFORMS are the platforms of an image that is built without Docker. The value all means all four.
PLATFORMS ?= linux/$(ARCH)
ALL_PLATFORMS := linux/arm64,linux/amd64,linux/s390x,linux/ppc64le
EACH_PLATFORM := $(if $(filter all,$(PLATFORMS)),$(ALL_PLATFORMS),$(PLATFORMS))
BUILDX_BUILDER ?= memcached-operator
# BUILD_ARGS is for all targets that use the Dockerfile. To use a mirror:
# BUILD_ARGS='--build-arg BUILDER=... --build-arg BASE=...'.
BUILD_ARGS ?=

.PHONY: build
build: ## Build the operator for this machine into bin/.
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/manager ./operator/cmd/manager

IMAGE ?= operator agent

.PHONY: image
image: $(patsubst %,%-push,$(filter bundle catalog,$(IMAGE))) ## Build and push without Docker: IMAGE=operator|agent|bundle|catalog|snapshot.
	@$(if $(filter operator agent snapshot,$(IMAGE)),go run ./scripts/images build $(if $(filter operator,$(IMAGE)),'operator=$(IMG)') \
		$(if $(filter agent,$(IMAGE)),'agent=$(AGENT_IMG)') $(if $(filter snapshot,$(IMAGE)),'snapshot=$(SNAPSHOT_IMG)') --version '$(VERSION)' --platform '$(EACH_PLATFORM)')

.PHONY: image-inspect
image-inspect: ## Compare the platforms of the images with those that the manifests promise.
	@go run ./scripts/images inspect --image '$(IMG)' --agent-image '$(AGENT_IMG)' --snapshot-image '$(SNAPSHOT_IMG)' \
		--memcached-image '$(MEMCACHED_IMAGE)' $(ARGS)

.PHONY: docker-build
docker-build: ## Build both images with CONTAINER_TOOL (docker, podman or buildah): IMG=.
	@# BuildKit is needed, because it supports platforms. Docker before 23 uses BuildKit only with this variable.
	@DOCKER_BUILDKIT=1 $(CONTAINER_TOOL) build $(BUILD_ARGS) --build-arg VERSION='$(VERSION)' --tag '$(IMG)' .
	@DOCKER_BUILDKIT=1 $(CONTAINER_TOOL) build $(BUILD_ARGS) --target agent --tag '$(AGENT_IMG)' .

.PHONY: docker-push
docker-push: ## Push both images with CONTAINER_TOOL: IMG= AGENT_IMG=.
	@$(CONTAINER_TOOL) push '$(IMG)'
	@$(CONTAINER_TOOL) push '$(AGENT_IMG)'

.PHONY: docker-buildx
docker-buildx: ## Build and push both images for PLATFORMS (all four) with Docker's buildx.
	@# Docker's default builder makes images of only one platform. The builder that is made here stays for the next time.
	@$(CONTAINER_TOOL) buildx inspect $(BUILDX_BUILDER) >/dev/null 2>&1 || \
		$(CONTAINER_TOOL) buildx create --name $(BUILDX_BUILDER) --driver docker-container >/dev/null
	@$(BUILDX) --build-arg VERSION='$(VERSION)' --tag '$(IMG)' .
	@$(BUILDX) --target agent --tag '$(AGENT_IMG)' .

BUILDX = $(CONTAINER_TOOL) buildx build --builder $(BUILDX_BUILDER) --provenance=false --push $(BUILD_ARGS) \
	--platform '$(if $(filter file,$(origin PLATFORMS)),$(ALL_PLATFORMS),$(EACH_PLATFORM))'

##@ For users: Install into the cluster of your kubeconfig (no kubectl needed)

.PHONY: install
install: ## Install only the CRD.
	@go run ./scripts/deploy apply operator/config/crd $(ARGS)

.PHONY: uninstall
uninstall: ## Remove the CRD, unless there are Memcacheds; ARGS=--cascade removes them too.
	@go run ./scripts/deploy delete operator/config/crd $(ARGS)

# Nobody can pull an image from the example registry. It is the default until a release writes its registry into this
# file.
unnamed = $(and $(filter file,$(origin REGISTRY)),$(filter file,$(origin IMG)),$(findstring .example.com/,$(IMG)))

.PHONY: refuse-placeholders
refuse-placeholders:
	@printf '%s\n' 'Nothing was changed: $(IMG) and $(AGENT_IMG) are placeholders.' \
		'Pods of the operator run the first, Pods of caches the second. Push both, and say where they are:' \
		'  make image REGISTRY=YOUR-REGISTRY' '  make $(MAKECMDGOALS) REGISTRY=YOUR-REGISTRY' >&2; exit 1

.PHONY: run
run: $(if $(filter file,$(origin AGENT_IMG)),$(if $(unnamed),refuse-placeholders)) install ## Run the operator on this machine; Pods of caches run AGENT_IMG=.
	@RELATED_IMAGE_AGENT='$(AGENT_IMG)' RELATED_IMAGE_SNAPSHOT='$(SNAPSHOT_IMG)' go run ./operator/cmd/manager --metrics-bind-address=0 --zap-devel $(ARGS)

.PHONY: deploy
deploy: $(if $(unnamed),refuse-placeholders) ## Install the operator: IMG= [AGENT_IMG=] [MEMCACHED_IMAGE=] [ARCH=], an overlay.
	@go run ./scripts/deploy apply overlays/$(ARCH) --set-image 'memcached-operator=$(IMG)' \
		--set-image 'memcached-agent=$(AGENT_IMG)' --set-image 'memcached-snapshot=$(SNAPSHOT_IMG)' \
		$(if $(MEMCACHED_IMAGE),--set-image 'memcached=$(MEMCACHED_IMAGE)') $(ARGS)

.PHONY: undeploy
undeploy: ## Remove operator and CRDs. If there are Memcacheds, only with ARGS=--cascade.
	@go run ./scripts/deploy delete overlays/$(ARCH) $(ARGS)

##@ For users: GitOps

.PHONY: gitops-init
gitops-init: ## Write REPO=, REVISION=, REGISTRY= into the tree, or into a new repository OUT=.
	@go run ./scripts/settings $(if $(NEW),--out '$(NEW)' --method '$(METHOD)' --upstream '$(UPSTREAM)' --ref '$(REF)') --repo '$(REPO)' --revision '$(REVISION)' --registry '$(REGISTRY)' \
		--version $(VERSION) --architecture '$(CHOSEN_ARCH)' \
		--agent-image '$(AGENT_IMAGE)' --memcached-image '$(MEMCACHED_IMAGE)' \
		--catalog-image '$(CATALOG_IMAGE)' --argocd-namespace '$(ARGOCD_NAMESPACE)'

.PHONY: gitops-plan
gitops-plan: ## Show the tree as Argo CD would apply it: METHOD= [ARCH=] [DIR=].
	@go -C scripts/gitops run . plan --dir '$(abspath $(DIR))' --method '$(METHOD)' --arch '$(CHOSEN_ARCH)' $(ARGS)

.PHONY: gitops-verify
gitops-verify: ## Find what Argo CD would refuse in the tree, or in DIR=. A part of make test.
	@$(FAST) go -C scripts/gitops run . verify --dir '$(abspath $(DIR))' $(ARGS)

METHOD ?= direct
DIR ?= .
NEW = $(if $(filter file,$(origin OUT)),,$(OUT))
UPSTREAM ?=
REF ?=
REPO ?=
REVISION ?= main
AGENT_IMAGE ?=
MEMCACHED_IMAGE ?=
CATALOG_IMAGE ?=
ARGOCD_NAMESPACE ?=

##@ For maintainers: OLM and release

# A container tool is used only if the user sets CONTAINER_TOOL, because none is needed.
OLM_TOOL := $(if $(filter file default,$(origin CONTAINER_TOOL)),,--tool $(CONTAINER_TOOL))
# If the user sets no variable that names these images, the images in the manifests stay.
CHOSEN_AGENT_IMG := $(if $(filter-out file,$(origin IMG) $(origin AGENT_IMG) $(origin REGISTRY)),$(AGENT_IMG))
CHOSEN_SNAPSHOT_IMG := $(if $(filter-out file,$(origin IMG) $(origin SNAPSHOT_IMG) $(origin REGISTRY)),$(SNAPSHOT_IMG))
BUNDLE_IMG ?= $(REGISTRY)/memcached-operator-bundle:v$(VERSION)
CATALOG_IMG ?= $(REGISTRY)/memcached-operator-catalog:v$(VERSION)
CHANNELS ?= stable,candidate
DEFAULT_CHANNEL ?= stable
USE_IMAGE_DIGESTS ?=
PULL_SECRET ?=
DRY_RUN ?=

.PHONY: bundle
bundle: ## Write bundle/: VERSION= IMG= CHANNELS= DEFAULT_CHANNEL= [MEMCACHED_IMAGE=].
	@go run ./scripts/release bundle --version '$(VERSION)' --image '$(IMG)' --channels '$(CHANNELS)' \
		--default-channel '$(DEFAULT_CHANNEL)' --pull-secret '$(PULL_SECRET)' \
		--agent-image '$(CHOSEN_AGENT_IMG)' --snapshot-image '$(CHOSEN_SNAPSHOT_IMG)' \
		--memcached-image '$(MEMCACHED_IMAGE)' $(if $(USE_IMAGE_DIGESTS),--use-image-digests) $(ARGS)

# These are the names that the Operator SDK has for `make image IMAGE=bundle` and `IMAGE=catalog`. If BUNDLE_IMG is set,
# that image is first added to the catalog.
.PHONY: bundle-build bundle-push catalog-build catalog-push
bundle-build bundle-push catalog-build catalog-push:
	@$(if $(filter catalog-%,$@),$(ADD_BUNDLE))
	@go run ./scripts/release image $(firstword $(subst -, ,$@)) $(if $(filter %-push,$@),--push) $(OLM_TOOL) $(ARGS) \
		--tag '$(if $(filter catalog-%,$@),$(CATALOG_IMG),$(BUNDLE_IMG))'

.PHONY: catalog
catalog: ## Add bundle/, as the image BUNDLE_IMG, to the catalog.
	@go run ./scripts/release catalog --bundle-image '$(BUNDLE_IMG)' $(ARGS)

# A user who sets BUNDLE_IMG wants that image in the catalog.
ADD_BUNDLE := $(if $(filter file default,$(origin BUNDLE_IMG)),,go run ./scripts/release catalog --bundle-image '$(BUNDLE_IMG)')

.PHONY: operatorhub
operatorhub: ## Write bundle/ as OperatorHub needs it into OUT, such as a clone of its Git.
	@go run ./scripts/release operatorhub --out '$(if $(filter file,$(origin OUT)),,$(OUT))' $(ARGS)

.PHONY: release-prepare
release-prepare: ## Write a version into the tree, to commit: VERSION= REGISTRY= [DRY_RUN=1].
	@go run ./scripts/release prepare --version '$(VERSION)' --registry '$(REGISTRY)' \
		--memcached-image '$(MEMCACHED_IMAGE)' $(if $(DRY_RUN),--dry-run) $(ARGS)

OUT ?= dist

.PHONY: chart
chart: ## Write the Helm chart to bin/charts: VERSION= REGISTRY= [IMG=] [AGENT_IMG=].
	@go run ./scripts/release chart --version '$(VERSION)' --image '$(IMG)' --agent-image '$(AGENT_IMG)' \
		--snapshot-image '$(SNAPSHOT_IMG)' --memcached-image '$(MEMCACHED_IMAGE)' $(ARGS)

.PHONY: release
release: ## Write a release of this commit into OUT=dist: VERSION= REGISTRY=. No push.
	@go run ./scripts/release dist --version '$(VERSION)' --registry '$(REGISTRY)' --out '$(OUT)' \
		--memcached-image '$(MEMCACHED_IMAGE)' $(ARGS)

.PHONY: release-push
release-push: ## Push the images and the chart of the release in OUT, and nothing else.
	@go run ./scripts/release push --out '$(OUT)' $(ARGS)

.PHONY: release-sign
release-sign: ## Sign the release in OUT, by cosign and without a key (for a forge's runner).
	@tar -C "$$(dirname '$(OUT)')" --sort=name --mtime="$$(sed -n 's/^  "time": "\(.*\)",$$/\1/p' '$(OUT)/release.json')" \
		--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - "$$(basename '$(OUT)')" | gzip -n > '$(OUT).tar.gz'
	@go run ./scripts/release refs --dir '$(OUT)' --sums > '$(OUT).subjects'
	@sha256sum '$(OUT).tar.gz' >> '$(OUT).subjects'
	@go run ./scripts/release refs --dir '$(OUT)' | xargs -n 1 cosign sign --yes
	@cosign sign-blob --yes --bundle '$(OUT).SHA256SUMS.sigstore.json' '$(OUT)/SHA256SUMS'
	@cosign sign-blob --yes --bundle '$(OUT).tar.gz.sigstore.json' '$(OUT).tar.gz'

.PHONY: release-publish
release-publish: ## Put the signed release in OUT on the forge (needs gh and GH_TOKEN): TAG=.
	@gh release create '$(TAG)' --verify-tag --title '$(TAG)' $(if $(findstring -,$(TAG)),--prerelease) \
		--notes-file '$(OUT)/release-notes.md' '$(OUT).tar.gz' '$(OUT).tar.gz.sigstore.json' '$(OUT).SHA256SUMS.sigstore.json' \
		$$(find '$(OUT)' -path '$(OUT)/images' -prune -o -type f ! -name release-notes.md -print | sort)

TAG ?=
