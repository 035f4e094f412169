{{- define "gvList" -}}
<!-- Generated from operator/api/v1 by `make generate`. Do not edit. -->

# API reference

Every type and field, from the comments in the code. [memcached/README.md](memcached/README.md) explains them with examples.
{{ range . }}
{{ .Doc | trim }}
{{ $group := . }}
{{- range .SortedKinds }}{{ template "type" ($group.TypeForKind .) }}{{ end }}
{{- range .SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end }}
{{- end }}
{{- end }}

{{- define "type" }}
{{- if markdownShouldRenderType . }}
## {{ .Name }}

{{ .Doc | trim }}
{{- if .IsAlias }} It is a {{ markdownRenderTypeLink .UnderlyingType }}.{{ end }}
{{- range .Validation }} {{ . }}.{{ end }}
{{- with .SortedReferences }}

In {{ range $i, $type := . }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $type }}{{ end }}.
{{- end }}
{{ with .Members }}
| field | type | meaning | bounds |
| --- | --- | --- | --- |
{{- range . }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "meaning" . }} | {{ template "bounds" . }} |
{{- end }}
{{ end }}
{{- end }}
{{- end }}

{{- define "meaning" -}}
{{- if eq .Name "metadata" -}}
name, namespace, labels and so on, as every object has them
{{- else -}}
{{ .Doc | trim | replace "\n" " " | replace "<" "&lt;" | replace "|" "\\|" }}
{{- end -}}
{{- end -}}

{{- define "bounds" -}}
{{- $bounds := list -}}
{{- range .Validation -}}
{{- if hasPrefix "Required" . }}{{ $bounds = append $bounds "required" }}
{{- else if not (hasPrefix "Optional" .) }}{{ $bounds = append $bounds . }}
{{- end -}}
{{- end -}}
{{- join ", " $bounds -}}
{{- end -}}
