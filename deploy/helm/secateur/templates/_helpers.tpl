{{- define "secateur.labels" -}}
app.kubernetes.io/name: secateur
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
