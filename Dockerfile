# Builds the operator's image; with --target agent, the agent's image; and with --target snapshot, the image of the
# program that saves caches. Each image has static binaries and no shell, and does not run as root. The builder runs on
# the platform of this machine and cross-compiles, so that no emulation is needed. `make image PLATFORMS=all` makes the
# same binaries without Docker, if it runs with the builder's version of Go. BUILDER and BASE are image indexes for the
# four platforms, by digest. Both can be replaced, for example by a mirror:
#   docker build --build-arg BUILDER=mirror.example.com/golang:1.26.8 --build-arg BASE=scratch .
# An older buildah, such as that of Debian 12, does not set BUILDPLATFORM, the platform on which it runs. To build for
# other platforms with it, set the variable: --build-arg BUILDPLATFORM=linux/amd64.
ARG BUILDER=docker.io/library/golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a
ARG BASE=gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3

FROM --platform=$BUILDPLATFORM ${BUILDER} AS sources
ARG GOPROXY
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY operator/ operator/

# From here on, the stages differ by platform. The agent's version is a file in its sources.
FROM sources AS build-agent
ARG TARGETOS
ARG TARGETARCH
RUN GOFLAGS= CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w" -o / ./operator/cmd/agent ./operator/cmd/agent/supervisor

FROM ${BASE} AS agent
COPY --from=build-agent /supervisor /agent /
USER 65532:65532
ENTRYPOINT ["/supervisor", "/agent"]

# The program that saves caches is in a separate module, because it needs the client libraries of clouds.
FROM sources AS build-snapshot
ARG GOPROXY
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN cd operator/cmd/snapshot && GOFLAGS= CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /snapshot .

FROM ${BASE} AS snapshot
COPY --from=build-snapshot /snapshot /snapshot
USER 65532:65532
ENTRYPOINT ["/snapshot"]

FROM sources AS build
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN GOFLAGS= CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /manager ./operator/cmd/manager

FROM ${BASE}
COPY --from=build /manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
