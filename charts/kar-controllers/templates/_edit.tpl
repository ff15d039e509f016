{{- /* Each edits an object of manifests/ in place and prints nothing. They get (dict "object" the object, "root" the context of the chart). */ -}}

{{- define "kar.labels" -}}
{{- $labels := dict "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/version" .root.Chart.AppVersion "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version) -}}
{{- $_ := set .object.metadata "labels" (merge (.object.metadata.labels | default dict) $labels) -}}
{{- end -}}

{{- define "kar.edit.CustomResourceDefinition" -}}
{{- if .root.Values.crds.keep -}}
{{- $_ := set .object.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") (.object.metadata.annotations | default dict)) -}}
{{- end -}}
{{- end -}}

{{- define "kar.edit.Deployment" -}}
{{- $v := .root.Values -}}
{{- $_ := set .object.spec "replicas" (int $v.replicaCount) -}}
{{- $pod := .object.spec.template.spec -}}
{{- $_ := set $pod "nodeSelector" (merge $pod.nodeSelector $v.nodeSelector) -}}
{{- range $key := list "priorityClassName" "tolerations" "affinity" -}}
{{- with index $v $key -}}{{- $_ := set $pod $key . -}}{{- end -}}
{{- end -}}
{{- with $v.extraVolumes -}}{{- $_ := set $pod "volumes" (concat ($pod.volumes | default list) .) -}}{{- end -}}
{{- $container := first $pod.containers -}}
{{- with $v.extraVolumeMounts -}}{{- $_ := set $container "volumeMounts" (concat ($container.volumeMounts | default list) .) -}}{{- end -}}
{{- $_ := set $container "image" (printf "%s:%s" $v.image.repository ($v.image.tag | default .root.Chart.AppVersion)) -}}
{{- $_ := set $container "imagePullPolicy" $v.image.pullPolicy -}}
{{- $_ := set $container "resources" $v.resources -}}
{{- $queue := not (empty $v.defaultQueue) | ternary (list (printf "--default-queue=%s" $v.defaultQueue)) (list) -}}
{{- $below := kindIs "invalid" $v.preemptibleBelow | ternary (list) (list (printf "--preemptible-below=%d" (int64 $v.preemptibleBelow))) -}}
{{- $metrics := $v.metrics.enabled | ternary (list) (list "--metrics-bind-address=0") -}}
{{- $_ := set $container "args" (concat ($container.args | default list) $queue $below $metrics $v.extraArgs) -}}
{{- end -}}

{{- define "kar.edit.ServiceMonitor" -}}
{{- $_ := set .object.metadata "labels" (merge .object.metadata.labels .root.Values.metrics.serviceMonitor.labels) -}}
{{- end -}}

{{- define "kar.edit.PrometheusRule" -}}
{{- $_ := set .object.metadata "labels" (merge .object.metadata.labels .root.Values.metrics.prometheusRule.labels) -}}
{{- end -}}
