# The operator's image: one static binary, no shell, not root. The builder runs on the machine's own platform and
# cross-compiles, so that no emulation is needed. Both bases can be replaced, for a mirror say:
#   docker build --build-arg BUILDER=mirror.example.com/golang:1.26 --build-arg BASE=scratch .
ARG BUILDER=docker.io/library/golang:1.26
ARG BASE=gcr.io/distroless/static:nonroot

FROM --platform=$BUILDPLATFORM ${BUILDER} AS build
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY operator/ operator/
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /manager ./operator/cmd/manager

FROM ${BASE}
COPY --from=build /manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
