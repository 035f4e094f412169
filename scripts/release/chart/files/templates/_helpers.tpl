{{/* Labels of every object, beside those of its own. */}}
{{- define "memcached-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* An image reference. Where users set neither tag nor digest, it is what the chart was released with. */}}
{{- define "memcached-operator.image" -}}
{{ .image.repository }}
{{- if or .image.tag .image.digest -}}
{{ with .image.tag }}:{{ . }}{{ end }}{{ with .image.digest }}@{{ . }}{{ end }}
{{- else -}}
{{ .released }}
{{- end }}
{{- end }}
