{{/* Labels that every object has, in addition to its other labels. */}}
{{- define "memcached-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* An image reference. If users set neither tag nor digest, it has the tag and digest of the chart's release. */}}
{{- define "memcached-operator.image" -}}
{{ .image.repository }}
{{- if or .image.tag .image.digest -}}
{{ with .image.tag }}:{{ . }}{{ end }}{{ with .image.digest }}@{{ . }}{{ end }}
{{- else -}}
{{ .released }}
{{- end }}
{{- end }}
