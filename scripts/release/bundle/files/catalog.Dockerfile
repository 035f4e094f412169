{{- /* OLM needs no program in the image: v0 copies the files (extractContent), and v1 finds them by the label. */ -}}
# docker build -f bundle/catalog.Dockerfile bundle
FROM scratch

LABEL operators.operatorframework.io.index.configs.v1=/configs

COPY catalog /configs/
