{{- /* The manifests are those of daemonset/, which `files` leads to: here is only what values change of them. */ -}}

{{- /* The file of a program that has the workload first. Call with a dict: root, file. */ -}}
{{- define "ovn-udn.documents" -}}
{{- $text := .root.Files.Get (printf "files/%s" .file) -}}
{{- if not $text }}{{ fail (printf "the chart has no files/%s: it has to be packed from the repository" .file) }}{{ end -}}
{{- /* Subjects of bindings and names of users: the namespace of the manifests becomes that of the release. */ -}}
{{- $text | replace "namespace: ovn-udn" (printf "namespace: %s" .root.Release.Namespace) | replace "system:serviceaccount:ovn-udn:" (printf "system:serviceaccount:%s:" .root.Release.Namespace) -}}
{{- end -}}

{{- /* A file of monitoring/, with the Secret and the labels of the values. Call with a dict: root, file. */ -}}
{{- define "ovn-udn.monitoring" -}}
{{- $text := include "ovn-udn.documents" (dict "root" .root "file" (printf "monitoring/%s" .file)) -}}
{{- $text | replace "ovn-udn-metrics-tls" .root.Values.monitoring.tlsSecret -}}
{{- end -}}

{{- /* An object of it, with the labels by which the Prometheus Operator, or Grafana, finds it. Call with a dict: root, file, labels. */ -}}
{{- define "ovn-udn.labelled" -}}
{{- $object := include "ovn-udn.monitoring" . | fromYaml -}}
{{- if $object.Error }}{{ fail $object.Error }}{{ end -}}
{{- $_ := set $object.metadata "labels" (mergeOverwrite $object.metadata.labels .labels) -}}
{{ toYaml $object }}
{{- end -}}

{{- define "ovn-udn.variables" -}}
{{- range $name, $value := .Values.settings }}
{{ printf "UDN_%s" (snakecase $name | upper) }}: {{ $value | quote }}
{{- end }}
{{- if (default dict .Values.dnsNameResolver).follow }}
UDN_DNS_NAME_RESOLVER: {{ .Release.Namespace | quote }}
{{- end }}
{{- range $name, $value := .Values.variables }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- /* Required terms are alternatives: each keeps what the manifest requires, too. Call with a dict: own, wished. */ -}}
{{- define "ovn-udn.affinity" -}}
{{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
{{- $own := first (dig "nodeAffinity" $required "nodeSelectorTerms" (list dict) .own) -}}
{{- range (dig "nodeAffinity" $required "nodeSelectorTerms" list .wished) -}}
{{- $both := concat (default list $own.matchExpressions) (default list .matchExpressions) -}}
{{- if $both }}{{ $_ := set . "matchExpressions" $both }}{{ end -}}
{{- end -}}
{{ toYaml (mergeOverwrite (deepCopy .own) .wished) }}
{{- end -}}

{{- /* A workload with what values say of it. Call with a dict: root, text, values. */ -}}
{{- define "ovn-udn.workload" -}}
{{- $object := fromYaml .text -}}
{{- if $object.Error }}{{ fail $object.Error }}{{ end -}}
{{- $pod := $object.spec.template -}}
{{- $container := first $pod.spec.containers -}}
{{- $_ := set $container "image" (printf "%s:%s" .values.image.repository (default .root.Chart.AppVersion .values.image.tag)) -}}
{{- if .values.imagePullPolicy }}{{ $_ := set $container "imagePullPolicy" .values.imagePullPolicy }}{{ end -}}
{{- $_ := set $container "resources" (mergeOverwrite $container.resources .values.resources) -}}
{{- $_ := set $pod.spec "nodeSelector" (mergeOverwrite $pod.spec.nodeSelector .values.nodeSelector) -}}
{{- if .values.tolerations }}{{ $_ := set $pod.spec "tolerations" .values.tolerations }}{{ end -}}
{{- $_ := set $pod.spec "affinity" (include "ovn-udn.affinity" (dict "own" $pod.spec.affinity "wished" .values.affinity) | fromYaml) -}}
{{- if .values.priorityClassName }}{{ $_ := set $pod.spec "priorityClassName" .values.priorityClassName }}{{ end -}}
{{- if .root.Values.imagePullSecrets }}{{ $_ := set $pod.spec "imagePullSecrets" .root.Values.imagePullSecrets }}{{ end -}}
{{- /* The name of the ConfigMap stays: pods restart when this changes. */ -}}
{{- $_ := set $pod.metadata "annotations" (dict "k8s.ovn.org/settings-digest" (include "ovn-udn.variables" .root | sha256sum)) -}}
{{- /* With OVN in the cluster a pod of it creates these folders, and an agent may be started before it. */ -}}
{{- if and (default dict .root.Values.ovn).inCluster (eq $object.kind "DaemonSet") -}}
{{- range $pod.spec.volumes -}}
{{- if has .name (list "openvswitch" "ovn") }}{{ $_ := set .hostPath "type" "DirectoryOrCreate" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- /* Folders of the node; those of CNI stay where they are in the container. Values that an upgrade reuses may be older than the keys. */ -}}
{{- $cni := default dict .values.cni -}}
{{- $kubelet := default "/etc/kubernetes/kubelet.conf" .values.kubeletKubeconfig -}}
{{- range (default list $container.volumeMounts) -}}
{{- if eq .name "kubelet" }}{{ $_ := set . "mountPath" (dir $kubelet) }}{{ end -}}
{{- end -}}
{{- $folders := dict "cni-conf" (default "/etc/cni/net.d" $cni.confDir) "cni-bin" (default "/opt/cni/bin" $cni.binDir) "kubelet" (dir $kubelet) -}}
{{- range $pod.spec.volumes -}}
{{- if hasKey $folders .name }}{{ $_ := set .hostPath "path" (get $folders .name) }}{{ end -}}
{{- end -}}
{{- if hasKey .values "replicas" }}{{ $_ := set $object.spec "replicas" (int .values.replicas) }}{{ end -}}
{{- $args := list -}}
{{- range $container.args -}}
{{- $arg := replace "--lease=ovn-udn/" (printf "--lease=%s/" $.root.Release.Namespace) . -}}
{{- $args = append $args (replace "=/etc/kubernetes/kubelet.conf" (printf "=%s" $kubelet) $arg) -}}
{{- end -}}
{{- /* What there are ids for is the program's own default. */ -}}
{{- if and (hasKey .values "maxNetworks") (lt (int .values.maxNetworks) 4095) -}}
{{- $args = append $args (printf "--max-networks=%d" (int .values.maxNetworks)) -}}
{{- end -}}
{{- if and (hasKey .values "maxNetworksPerNamespace") (lt (int .values.maxNetworksPerNamespace) 4095) -}}
{{- $args = append $args (printf "--max-networks-per-namespace=%d" (int .values.maxNetworksPerNamespace)) -}}
{{- end -}}
{{- /* Likewise. */ -}}
{{- $allowed := "default/kubernetes,kube-system/kube-dns" -}}
{{- if ne (default $allowed .values.udnAllowedDefaultServices) $allowed -}}
{{- $args = append $args (printf "--udn-allowed-default-services=%s" .values.udnAllowedDefaultServices) -}}
{{- end -}}
{{- if eq (default "none" .values.encryption) "ipsec" -}}
{{- $args = append $args "--encryption=ipsec" -}}
{{- $mount := dict "name" "ipsec" "mountPath" "/etc/ipsec.d" "readOnly" true -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts $mount) -}}
{{- $volume := dict "name" "ipsec" "hostPath" (dict "path" "/etc/ipsec.d" "type" "Directory") -}}
{{- $_ := set $pod.spec "volumes" (append $pod.spec.volumes $volume) -}}
{{- end -}}
{{- $_ := set $container "args" $args -}}
{{- /* In the order of kustomize. */ -}}
{{- if .root.Values.monitoring.podMonitor.install -}}
{{- $tls := include "ovn-udn.monitoring" (dict "root" .root "file" (printf "%s-tls.yaml" (trimPrefix "udn-" $object.metadata.name))) | fromYaml -}}
{{- $added := $tls.spec.template.spec -}}
{{- range $key, $list := omit (first $added.containers) "name" -}}
{{- $_ := set $container $key (concat $list (default list (get $container $key))) -}}
{{- end -}}
{{- $_ := set $pod.spec "volumes" (concat $added.volumes (default list $pod.spec.volumes)) -}}
{{- end -}}
{{ toYaml $object }}
{{- end -}}

{{- /* Open vSwitch and OVN, on the nodes of the agents and those that an agent was taken from. Call with the root. */ -}}
{{- define "ovn-udn.ovn" -}}
{{- $object := include "ovn-udn.documents" (dict "root" . "file" "ovn/daemonset.yaml") | fromYaml -}}
{{- if $object.Error }}{{ fail $object.Error }}{{ end -}}
{{- $pod := $object.spec.template.spec -}}
{{- $values := .Values.ovn -}}
{{- /* Open vSwitch is deleted when the nodes are clean, and not with the release. */ -}}
{{- $_ := set $object.metadata "annotations" (dict "helm.sh/resource-policy" "keep") -}}
{{- $image := printf "%s:%s" $values.image.repository (default .Chart.AppVersion $values.image.tag) -}}
{{- range $pod.containers -}}
{{- $_ := set . "image" $image -}}
{{- if $values.imagePullPolicy }}{{ $_ := set . "imagePullPolicy" $values.imagePullPolicy }}{{ end -}}
{{- $_ := set . "resources" (mergeOverwrite .resources (default dict (get $values.resources .name))) -}}
{{- end -}}
{{- $nodes := .Values.agent -}}
{{- $_ := set $pod "nodeSelector" (mergeOverwrite $pod.nodeSelector $nodes.nodeSelector) -}}
{{- if $nodes.tolerations }}{{ $_ := set $pod "tolerations" $nodes.tolerations }}{{ end -}}
{{- if $nodes.affinity }}{{ $_ := set $pod "affinity" $nodes.affinity }}{{ end -}}
{{- if $nodes.priorityClassName }}{{ $_ := set $pod "priorityClassName" $nodes.priorityClassName }}{{ end -}}
{{- if .Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" .Values.imagePullSecrets }}{{ end -}}
{{ toYaml $object }}
{{- end -}}
