{{- /*
The Deployment of a service. Takes root, name, values, ordered (whether services are rolled out one after the other) and hpa (whether an autoscaler sets the replicas).
*/ -}}
{{- define "switchhook.deployment" -}}
{{- $root := .root -}}
{{- $v := $root.Values -}}
{{- $mounts := fromJsonArray (include "switchhook.secretFiles" .) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "switchhook.metadata" . | nindent 2 }}
spec:
  {{- if not .hpa }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  # The new pod is ready before the old one is stopped.
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: { app.kubernetes.io/name: {{ .name }} }
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .name }}
        app.kubernetes.io/part-of: switchhook
        app.kubernetes.io/instance: {{ $root.Release.Name }}
        switchhook/version: {{ include "switchhook.version" . | quote }}
        {{- with $v.pods.labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- if not $v.monitoring.podMonitors }}
        # For a Prometheus that discovers pods by annotation; monitoring.podMonitors is for the Prometheus Operator.
        prometheus.io/scrape: "true"
        prometheus.io/port: "9100"
        prometheus.io/path: /metrics
        {{- end }}
        checksum/settings: {{ list (include "switchhook.settings" (dict "root" $root "name" "switchhook")) (include "switchhook.settings" .) | toJson | sha256sum }}
        checksum/secrets: {{ include "switchhook.secretsChecksum" $root }}
        {{- with $v.pods.annotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .name }}
      automountServiceAccountToken: false
      # Otherwise the Service `api` sets the variable API_PORT, whose value is not a port number.
      enableServiceLinks: false
      # preStop plus SHUTDOWN_GRACE plus a margin, so that the process exits before it is killed.
      terminationGracePeriodSeconds: {{ $v.terminationGracePeriodSeconds }}
      {{- with include "switchhook.placement" $root | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      securityContext:
        {{- include "switchhook.podSecurity" (dict "user" 1000) | nindent 8 }}
      {{- if .ordered }}
      initContainers:
        # Waits until no pod of another version of the services before this one runs (docs/kubernetes.md, "Upgrade").
        - name: wait-for-rollout
          image: {{ include "switchhook.image" . }}
          imagePullPolicy: {{ $v.image.pullPolicy }}
          command: [node, /etc/switchhook/rollout/wait-for-rollout.mjs]
          args: [/etc/switchhook/rollout/order.json, {{ .name }}, {{ include "switchhook.version" . | quote }}]
          resources:
            requests: { cpu: 10m, memory: 64Mi }
            limits: { memory: 128Mi }
          securityContext:
            {{- include "switchhook.restricted" . | nindent 12 }}
          volumeMounts:
            - { name: rollout, mountPath: /etc/switchhook/rollout, readOnly: true }
      {{- end }}
      containers:
        - name: service
          image: {{ include "switchhook.image" . }}
          imagePullPolicy: {{ $v.image.pullPolicy }}
          envFrom:
            - configMapRef: { name: switchhook }
            - configMapRef: { name: {{ .name }} }
          env:
            {{- include "switchhook.environment" . | nindent 12 }}
          ports:
            {{- if eq .name "api" }}
            - { name: http, containerPort: 8080 }
            {{- end }}
            - { name: health, containerPort: 9100 }
          {{- if eq .name "api" }}
          # A terminating pod still gets requests until every node knows that it is terminating.
          lifecycle:
            preStop: { sleep: { seconds: 5 } }
          {{- end }}
          # A service without RabbitMQ or Redis is alive but not ready, so an outage of theirs never restarts it.
          startupProbe:
            httpGet: { path: /healthz, port: health }
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: health }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: health }
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- include "switchhook.restricted" . | nindent 12 }}
          {{- with $mounts }}
          volumeMounts:
            {{- range . }}
            - { name: {{ .name }}, mountPath: /etc/switchhook/{{ .name }}, readOnly: true }
            {{- end }}
          {{- end }}
      {{- if or .ordered $mounts }}
      volumes:
        {{- if .ordered }}
        - name: rollout
          configMap: { name: rollout }
        {{- end }}
        {{- range $mounts }}
        - name: {{ .name }}
          secret: { secretName: {{ .secret }}, items: [{{ range $at, $key := .keys }}{{ if $at }}, {{ end }}{ key: {{ $key }}, path: {{ $key }} }{{ end }}] }
        {{- end }}
      {{- end }}
      # Spreads each revision of each service over zones and nodes, without blocking the scheduling.
      topologySpreadConstraints:
        {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
        - topologyKey: {{ . }}
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: { matchLabels: { app.kubernetes.io/part-of: switchhook } }
          matchLabelKeys: [app.kubernetes.io/name, pod-template-hash]
        {{- end }}
{{- end }}

{{- /* The Secrets that a service reads as files, each in a folder of its own. */ -}}
{{- define "switchhook.secretFiles" -}}
{{- $v := .root.Values -}}
{{- $files := list -}}
{{- with $v.rabbitmq.tls.caSecret }}{{ $files = append $files (dict "name" "amqp-ca" "secret" . "keys" (list "ca.crt")) }}{{ end -}}
{{- with $v.redis.tls.caSecret }}{{ $files = append $files (dict "name" "redis-ca" "secret" . "keys" (list "ca.crt")) }}{{ end -}}
{{- if and (eq .name "api") (eq (include "switchhook.platform" .root) "asterisk") -}}
{{- $keys := ternary (list "password" "managerPassword") (list "password") (or (hasKey $v.api.settings "ASTERISK_MANAGER_USER") (hasKey $v.settings "ASTERISK_MANAGER_USER")) -}}
{{- $files = append $files (dict "name" "asterisk" "secret" $v.asterisk.secret "keys" $keys) -}}
{{- with $v.asterisk.caSecret }}{{ $files = append $files (dict "name" "asterisk-ca" "secret" . "keys" (list "ca.crt")) }}{{ end -}}
{{- end -}}
{{- toJson $files -}}
{{- end }}

{{- /* The variables that come from Secrets, and those that follow from other values. */ -}}
{{- define "switchhook.environment" -}}
{{- $v := .root.Values -}}
{{- if eq $v.rabbitmq.mode "external" -}}
- name: AMQP_URL
  valueFrom: { secretKeyRef: { name: {{ $v.rabbitmq.external.urlSecret }}, key: {{ $v.rabbitmq.external.urlKey }} } }
{{- else -}}
{{- if $v.rabbitmq.usersSecret -}}
- { name: AMQP_USERNAME, value: switchhook-{{ .name }} }
- name: AMQP_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $v.rabbitmq.usersSecret }}, key: {{ .name }} } }
- { name: AMQP_DECLARE, value: own }
{{- else -}}
- name: AMQP_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $v.rabbitmq.userSecret }}, key: username } }
- name: AMQP_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $v.rabbitmq.userSecret }}, key: password } }
{{- end }}
- name: AMQP_URL
  value: {{ include "switchhook.amqpUrl" .root }}
{{- end }}
{{- if $v.rabbitmq.tls.caSecret }}
- { name: AMQP_CA_FILE, value: /etc/switchhook/amqp-ca/ca.crt }
{{- end }}
{{- if eq $v.redis.mode "external" }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ $v.redis.secret }}, key: {{ $v.redis.external.urlKey }} } }
{{- else }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $v.redis.secret }}, key: password } }
- name: REDIS_URL
  value: {{ ternary "rediss" "redis" $v.redis.tls.enabled }}://{{ include "switchhook.redisHost" .root }}:6379
{{- end }}
{{- if $v.redis.tls.caSecret }}
- { name: REDIS_CA_FILE, value: /etc/switchhook/redis-ca/ca.crt }
{{- end }}
{{- if ne $v.redis.durability "checked" }}
- { name: REDIS_DURABILITY, value: {{ $v.redis.durability }} }
{{- end }}
{{- if and (eq .name "api") (eq (include "switchhook.platform" .root) "asterisk") }}
- { name: ASTERISK_URL, value: {{ $v.asterisk.url | quote }} }
- { name: ASTERISK_PASSWORD_FILE, value: /etc/switchhook/asterisk/password }
{{- if or (hasKey $v.api.settings "ASTERISK_MANAGER_USER") (hasKey $v.settings "ASTERISK_MANAGER_USER") }}
- { name: ASTERISK_MANAGER_PASSWORD_FILE, value: /etc/switchhook/asterisk/managerPassword }
{{- end }}
{{- if $v.asterisk.caSecret }}
- { name: ASTERISK_CA_FILE, value: /etc/switchhook/asterisk-ca/ca.crt }
{{- end }}
{{- end }}
{{- if and (eq .name "delivery-worker") $v.egressProxy.urlSecret }}
- name: EGRESS_PROXY_URL
  valueFrom: { secretKeyRef: { name: {{ $v.egressProxy.urlSecret }}, key: {{ $v.egressProxy.urlKey }} } }
{{- end }}
{{- if ne .name "fanout" }}
- name: SECRET_KEYS
  valueFrom: { secretKeyRef: { name: {{ $v.secrets.webhookKeys }}, key: keys } }
{{- end }}
{{- end }}
