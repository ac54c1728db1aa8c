{{- /* Labels of every object. */ -}}
{{- define "switchhook.labels" -}}
app.kubernetes.io/part-of: switchhook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "switchhook.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "switchhook.labels" .root | nindent 2 }}
{{- end }}

{{- /* The image of a service: a digest wins over the tag. */ -}}
{{- define "switchhook.image" -}}
{{- $image := printf "%s/%s" .root.Values.image.registry .name -}}
{{- if .values.digest -}}
{{ $image }}@{{ .values.digest }}
{{- else -}}
{{ $image }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* The image of another project, with its digest if one is given. */ -}}
{{- define "switchhook.otherImage" -}}
{{ .image }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* Identifies the version of a service: pods of another image carry another value. */ -}}
{{- define "switchhook.version" -}}
{{- include "switchhook.image" . | sha256sum | trunc 10 -}}
{{- end }}

{{- define "switchhook.valuesOf" -}}
{{- if eq .name "delivery-worker" }}{{ toJson .root.Values.deliveryWorker }}{{ else }}{{ toJson (index .root.Values .name) }}{{ end -}}
{{- end }}

{{- /* The variables of a ConfigMap: `switchhook` for all services, or the name of one. */ -}}
{{- define "switchhook.settings" -}}
{{- $v := .root.Values -}}
{{- if eq .name "switchhook" -}}
{{- toJson (merge (dict "NODE_ENV" $v.environment "HEALTH_PORT" "9100") $v.settings) -}}
{{- else -}}
{{- $settings := (fromJson (include "switchhook.valuesOf" .)).settings -}}
{{- if eq .name "api" -}}
{{- $_ := set $settings "API_PORT" "8080" -}}
{{- with $v.api.authIssuers }}{{ $_ := set $settings "AUTH_ISSUERS" (toJson .) }}{{ end -}}
{{- $given := merge (dict) $settings $v.settings -}}
{{- if and $given.TRUSTED_NETWORKS (not (hasKey $given "ALLOWED_HOSTS")) -}}
{{- $_ := set $settings "ALLOWED_HOSTS" (include "switchhook.hosts" .root) -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}
{{- end }}

{{- /* The names under which clients reach the api, outside and inside the cluster. ALLOWED_HOSTS takes no wildcard. */ -}}
{{- define "switchhook.hosts" -}}
{{- $v := .Values -}}
{{- $service := printf "api.%s" .Release.Namespace -}}
{{- $hosts := list "api" $service (printf "%s.svc" $service) -}}
{{- if $v.ingress.enabled }}{{ $hosts = append $hosts $v.ingress.host }}{{ end -}}
{{- if $v.gateway.enabled }}{{ $hosts = concat $hosts $v.gateway.hostnames }}{{ end -}}
{{- $named := list -}}
{{- range $hosts }}{{ if not (contains "*" .) }}{{ $named = append $named . }}{{ end }}{{ end -}}
{{- $named | uniq | join "," -}}
{{- end }}

{{- /*
Changes with secrets.revision and with the content of those Secrets, of the given ones, that exist before the first
installation. The others are found only by a later `helm upgrade`, which would restart what did not change.
*/ -}}
{{- define "switchhook.checksumOf" -}}
{{- $v := .root.Values -}}
{{- $created := ternary (list "rabbitmq-default-user") list (eq $v.rabbitmq.mode "operator") -}}
{{- if $v.secrets.developmentDefaults }}{{ $created = list $v.rabbitmq.userSecret $v.rabbitmq.usersSecret $v.redis.secret $v.secrets.webhookKeys }}{{ end -}}
{{- $data := list $v.secrets.revision -}}
{{- range (compact .names | uniq) -}}
{{- if not (has . $created) }}{{ $data = append $data (dig "data" dict (lookup "v1" "Secret" $.root.Release.Namespace .)) }}{{ end -}}
{{- end -}}
{{- toJson $data | sha256sum -}}
{{- end }}

{{- /*
Refuses passwords that Redis, RabbitMQ and their clients would read differently, before an object changes. Sees the Secrets
that exist; Redis checks its own when it starts.
*/ -}}
{{- define "switchhook.checkSecrets" -}}
{{- $v := .Values -}}
{{- $own := not $v.secrets.developmentDefaults -}}
{{- $keys := list -}}
{{- if and $own (eq $v.redis.mode "internal") }}{{ $keys = append $keys (list $v.redis.secret "password" "redis-0") }}{{ end -}}
{{- if and $own (ne $v.rabbitmq.mode "external") (ne $v.rabbitmq.userSecret "rabbitmq-default-user") -}}
{{- $pod := ternary "rabbitmq-0" "" (eq $v.rabbitmq.mode "single") -}}
{{- $keys = concat $keys (list (list $v.rabbitmq.userSecret "username" $pod) (list $v.rabbitmq.userSecret "password" $pod)) -}}
{{- end -}}
{{- /* KEDA reads its login without the services' care for white space. */ -}}
{{- if eq $v.deliveryWorker.autoscaling.mode "keda" -}}
{{- if eq $v.rabbitmq.mode "external" -}}
{{- $keys = concat $keys (list (list $v.rabbitmq.external.urlSecret "username" "") (list $v.rabbitmq.external.urlSecret "password" "")) -}}
{{- else if $v.rabbitmq.usersSecret -}}
{{- $keys = append $keys (list $v.rabbitmq.usersSecret "monitor" "") -}}
{{- end -}}
{{- end -}}
{{- range $keys -}}
{{- $secret := index . 0 }}{{ $key := index . 1 }}{{ $pod := index . 2 -}}
{{- $value := dig "data" $key "" (lookup "v1" "Secret" $.Release.Namespace $secret) | b64dec -}}
{{- if regexMatch "^[\\p{Z}\\x{FEFF}]|\\p{Cc}|[\\p{Z}\\x{FEFF}]$" $value -}}
{{- $delete := ternary (printf " Then delete the pod %s if it was never ready, because a StatefulSet does not replace it: kubectl --namespace %s delete pod %s" $pod $.Release.Namespace $pod) "" (ne $pod "") -}}
{{- fail (printf "the key %s of the Secret %s must be one line without white space or a byte order mark around it, such as a final line end. Correct the Secret, and run this command again.%s" $key $secret $delete) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "switchhook.secretsChecksum" -}}
{{- $v := .Values -}}
{{- $rabbitmq := ternary $v.rabbitmq.external.urlSecret ($v.rabbitmq.usersSecret | default $v.rabbitmq.userSecret) (eq $v.rabbitmq.mode "external") -}}
{{- $names := list $v.secrets.webhookKeys $v.redis.secret $rabbitmq $v.rabbitmq.tls.caSecret $v.redis.tls.caSecret $v.egressProxy.urlSecret -}}
{{- if eq (include "switchhook.platform" .) "asterisk" }}{{ $names = concat $names (list $v.asterisk.secret $v.asterisk.caSecret) }}{{ end -}}
{{- include "switchhook.checksumOf" (dict "root" . "names" $names) -}}
{{- end }}

{{- define "switchhook.redisSecretsChecksum" -}}
{{- $tls := .Values.redis.tls -}}
{{- include "switchhook.checksumOf" (dict "root" . "names" (list .Values.redis.secret (ternary $tls.serverSecret "" $tls.enabled))) -}}
{{- end }}

{{- /* The security context of every container. */ -}}
{{- define "switchhook.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "switchhook.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "switchhook.placement" -}}
{{- with .Values.pods.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName | default .Values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* PLATFORM as given for the api or for all services; empty if it is not given. */ -}}
{{- define "switchhook.platform" -}}
{{- dig "PLATFORM" (dig "PLATFORM" "" .Values.settings) .Values.api.settings -}}
{{- end }}

{{- define "switchhook.redisPriorityClass" -}}
{{- .Values.redis.priorityClassName | default .Values.pods.priorityClassName | default (printf "%s-redis" .Release.Namespace) -}}
{{- end }}

{{- define "switchhook.redisHost" -}}redis.{{ .Release.Namespace }}.svc{{- end }}

{{- /* Redis refuses writes at three quarters of its container's limit; a rewrite of its file needs the rest. */ -}}
{{- define "switchhook.redisMaxmemoryMi" -}}{{ div (mul .Values.redis.memoryMi 3) 4 }}{{- end }}

{{- /* The nodes by their own names: a connection moves on to another node when it loses one. */ -}}
{{- define "switchhook.amqpUrl" -}}
{{- $v := .Values.rabbitmq -}}
{{- if eq $v.mode "single" -}}
amqp://rabbitmq.{{ .Release.Namespace }}.svc:5672
{{- else -}}
{{- $urls := list -}}
{{- range $node := until (int $v.replicas) -}}
{{- $host := printf "rabbitmq-server-%d.rabbitmq-nodes.%s.svc" $node $.Release.Namespace -}}
{{- $urls = append $urls (printf "%s://%s:%s" (ternary "amqps" "amqp" $v.tls.enabled) $host (ternary "5671" "5672" $v.tls.enabled)) -}}
{{- end -}}
{{- join "," $urls -}}
{{- end -}}
{{- end }}

{{- /* By default, both listen at IPv4 addresses only. */ -}}
{{- define "switchhook.rabbitmqIpv6" -}}
management.tcp.ip = ::
prometheus.tcp.ip = ::
{{- end }}

{{- /* MANAGEMENT_…: RabbitMQ's HTTP API, and the administrator of rabbitmq.userSecret. TLS needs the mount /etc/amqp-ca. */ -}}
{{- define "switchhook.managementUrl" -}}
{{- $tls := .Values.rabbitmq.tls.enabled -}}
- name: MANAGEMENT_USERNAME
  valueFrom: { secretKeyRef: { name: {{ .Values.rabbitmq.userSecret }}, key: username } }
- name: MANAGEMENT_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ .Values.rabbitmq.userSecret }}, key: password } }
- name: MANAGEMENT_URL
  value: {{ ternary "https" "http" $tls }}://rabbitmq.{{ .Release.Namespace }}.svc:{{ ternary "15671" "15672" $tls }}
{{- if $tls }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/amqp-ca/ca.crt }
{{- end }}
{{- end }}

{{- /* The paths that clients reach: the API, and the console if people can sign in to it. */ -}}
{{- define "switchhook.paths" -}}
{{- $paths := list "/api/v1" -}}
{{- $console := dig "CONSOLE" (dig "CONSOLE" "on" .Values.settings) .Values.api.settings | toString -}}
{{- range .Values.api.authIssuers -}}
{{- if and .console (ne $console "off") }}{{ $paths = append $paths "/console" }}{{ end -}}
{{- end -}}
{{- toJson ($paths | uniq) -}}
{{- end }}

{{- /* Values that contradict each other, which a schema cannot say. */ -}}
{{- define "switchhook.check" -}}
{{- $v := .Values -}}
{{- if and (eq $v.environment "production") (or $v.secrets.developmentDefaults $v.devIdp.enabled) -}}
{{- fail "environment is production: secrets.developmentDefaults and devIdp.enabled are for development, because their passwords are public" -}}
{{- end -}}
{{- $platform := include "switchhook.platform" . -}}
{{- if and (eq $v.environment "production") (not $platform) -}}
{{- fail "api.settings.PLATFORM is required in production: asterisk, or simulator, which only simulates calls" -}}
{{- end -}}
{{- if eq $platform "asterisk" -}}
{{- if not $v.asterisk.url }}{{ fail "asterisk.url is required: the address of Asterisk's HTTP server" }}{{ end -}}
{{- if and $v.networkPolicy.enabled (not $v.asterisk.networks) -}}
{{- fail "asterisk.networks is required: the addresses (CIDRs) of Asterisk, which the network policies open for the api" -}}
{{- end -}}
{{- end -}}
{{- $trusted := dig "TRUSTED_NETWORKS" (dig "TRUSTED_NETWORKS" "" $v.settings) $v.api.settings -}}
{{- $proxies := dig "TRUST_PROXY" (dig "TRUST_PROXY" "" $v.settings) $v.api.settings -}}
{{- if and $trusted (not $proxies) (or $v.ingress.enabled $v.gateway.enabled) -}}
{{- fail "api.settings.TRUST_PROXY is required with TRUSTED_NETWORKS: without it every client has the address of the ingress controller or gateway, and needs no token if that is trusted" -}}
{{- end -}}
{{- if not (or $v.api.authIssuers $v.api.settings.AUTH_ISSUERS $trusted) -}}
{{- fail "api.authIssuers is required: without an identity provider every request is refused, and the api does not start" -}}
{{- end -}}
{{- if and (eq $v.rabbitmq.mode "single") $v.rabbitmq.tls.enabled -}}
{{- fail "rabbitmq.tls.enabled needs rabbitmq.mode operator; rabbitmq.mode single is for development" -}}
{{- end -}}
{{- if and (eq $v.redis.mode "internal") (lt (mul 1024 (int $v.redis.storageGi)) (mul 4 (int (include "switchhook.redisMaxmemoryMi" .)))) -}}
{{- fail (printf "redis.storageGi is %v: a rewrite of the append-only file can need four times maxmemory (%s Mi, three quarters of redis.memoryMi)" $v.redis.storageGi (include "switchhook.redisMaxmemoryMi" .)) -}}
{{- end -}}
{{- if and (eq $v.rabbitmq.mode "external") (eq $v.deliveryWorker.autoscaling.mode "keda") (not $v.deliveryWorker.autoscaling.managementUrl) -}}
{{- fail "deliveryWorker.autoscaling.managementUrl is required: KEDA reads the queues of an external RabbitMQ from its HTTP API" -}}
{{- end -}}
{{- range $name := list "rabbitmq" "redis" -}}
{{- $part := index $v $name -}}
{{- if and (eq $part.mode "external") $v.networkPolicy.enabled (not $part.external.networks) -}}
{{- fail (printf "%s.external.networks is required: the addresses (CIDRs) of %s, which the network policies open" $name $name) -}}
{{- end -}}
{{- end -}}
{{- if and $v.egressProxy.urlSecret $v.networkPolicy.enabled (not $v.egressProxy.networks) -}}
{{- fail "egressProxy.networks is required: the addresses (CIDRs) of the proxy, which the network policies open for the workers" -}}
{{- end -}}
{{- if and $v.redis.tls.enabled (eq $v.redis.mode "internal") (not $v.redis.tls.caSecret) -}}
{{- fail "redis.tls.caSecret is required with redis.tls.enabled: the services check the certificate of Redis against it" -}}
{{- end -}}
{{- if and $v.rabbitmq.tls.enabled (eq $v.rabbitmq.mode "operator") (not $v.rabbitmq.tls.caSecret) -}}
{{- fail "rabbitmq.tls.caSecret is required with rabbitmq.tls.enabled: the services check the certificates of the nodes against it" -}}
{{- end -}}
{{- range $setting, $services := dict "DELIVERY_SHARDS" (list "fanout" "deliveryWorker") "EVENT_SHARDS" (list "api" "fanout") -}}
{{- $numbers := list -}}
{{- range $services }}{{ $numbers = append $numbers (dig $setting (dig $setting 1 $v.settings) (index $v . "settings") | toString) }}{{ end -}}
{{- if gt (len ($numbers | uniq)) 1 -}}
{{- fail (printf "%s is %s for %s: set it under settings, for all services" $setting (join " and " $numbers) (join " and " $services)) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "api" "fanout" "deliveryWorker" -}}
{{- $grace := dig "SHUTDOWN_GRACE" (dig "SHUTDOWN_GRACE" "" $v.settings) (index $v $name "settings") | default "30s" | toString -}}
{{- $unitMs := dig (regexFind "[a-z]+$" $grace) 0 (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) -}}
{{- /* 5 s to exit, and preStop of the api. */ -}}
{{- $moreS := ternary 10 5 (eq $name "api") -}}
{{- $neededMs := add (mul (regexFind "^[0-9]+" $grace) $unitMs) (mul $moreS 1000) -}}
{{- if lt (mul $v.terminationGracePeriodSeconds 1000) $neededMs -}}
{{- fail (printf "terminationGracePeriodSeconds is %d: %s needs %v s, SHUTDOWN_GRACE (%s) and %d s" (int $v.terminationGracePeriodSeconds) $name (divf $neededMs 1000) $grace $moreS) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "api" "deliveryWorker" -}}
{{- $scale := (index $v $name).autoscaling -}}
{{- if gt (int $scale.minReplicas) (int $scale.maxReplicas) -}}
{{- fail (printf "%s.autoscaling.minReplicas is %d, and maxReplicas %d: Kubernetes refuses a minimum above the maximum" $name (int $scale.minReplicas) (int $scale.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- range $v.networkPolicy.workerNetworks -}}
{{- if and (not (kindIs "string" .)) (not (get . "ports")) -}}
{{- fail (printf "networkPolicy.workerNetworks has %s without ports: list the ports, or write \"%s\" alone for all of them" .cidr .cidr) -}}
{{- end -}}
{{- end -}}
{{- if and $v.gateway.enabled (not $v.gateway.parentRefs) -}}
{{- fail "gateway.parentRefs is required: name the Gateway that the HTTPRoute belongs to" -}}
{{- end -}}
{{- end }}
