# The operator's image and, by --target agent, the agent's, and by --target snapshot that of the program that saves
# caches: static binaries, no shell, not root. The builder runs on the machine's own platform and cross-compiles, so
# that no emulation is needed. `make image PLATFORMS=all` makes the same binaries without Docker, as long as it is done
# with the builder's version of Go.
# Both bases are indexes of the four platforms, by digest, and can be replaced, for a mirror say:
#   docker build --build-arg BUILDER=mirror.example.com/golang:1.26.8 --build-arg BASE=scratch .
# An older buildah, such as Debian 12's, has to be told what it runs on when it builds for other platforms:
# --build-arg BUILDPLATFORM=linux/amd64.
ARG BUILDER=docker.io/library/golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a
ARG BASE=gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3

FROM --platform=$BUILDPLATFORM ${BUILDER} AS sources
ARG GOPROXY
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY operator/ operator/

# From here on it differs by platform. The agent's version is a file of its sources.
FROM sources AS build-agent
ARG TARGETOS
ARG TARGETARCH
RUN GOFLAGS= CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w" -o / ./operator/cmd/agent ./operator/cmd/agent/supervisor

FROM ${BASE} AS agent
COPY --from=build-agent /supervisor /agent /
USER 65532:65532
ENTRYPOINT ["/supervisor", "/agent"]

# Another module: the libraries of clouds.
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
