# docker build -f bundle/bundle.Dockerfile bundle
FROM scratch

{{ range .Labels }}LABEL {{ . }}
{{ end }}
COPY manifests /manifests/
COPY metadata /metadata/
COPY tests/scorecard /tests/scorecard/
