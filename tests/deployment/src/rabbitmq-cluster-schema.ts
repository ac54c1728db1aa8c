/**
 * The fields of RabbitmqCluster (rabbitmq.com/v1beta1) in the RabbitMQ Cluster Operator 2.16, as its Go types declare them
 * (api/v1beta1/rabbitmqcluster_types.go, MPL-2.0). The npm registry has no package with the CRD itself. The fields whose
 * types are Kubernetes' own (affinity, resources, …) are free here, because they are validated as those of a pod.
 */
export const RABBITMQ_CLUSTER = {
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { const: 'rabbitmq.com/v1beta1' },
    kind: { const: 'RabbitmqCluster' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      additionalProperties: false,
      properties: {
        replicas: { type: 'integer', minimum: 0 },
        image: { type: 'string' },
        imagePullSecrets: { type: 'array', items: { type: 'object', required: ['name'] } },
        terminationGracePeriodSeconds: { type: 'integer', minimum: 0 },
        delayStartSeconds: { type: 'integer', minimum: 0 },
        skipPostDeploySteps: { type: 'boolean' },
        resources: { type: 'object' },
        affinity: { type: 'object' },
        tolerations: { type: 'array' },
        override: { type: 'object' },
        secretBackend: { type: 'object' },
        service: {
          type: 'object',
          additionalProperties: false,
          properties: {
            type: { enum: ['ClusterIP', 'LoadBalancer', 'NodePort'] },
            annotations: { type: 'object', additionalProperties: { type: 'string' } },
            ipFamilyPolicy: { type: 'string' },
          },
        },
        persistence: {
          type: 'object',
          additionalProperties: false,
          properties: { storageClassName: { type: 'string' }, storage: { type: ['string', 'integer'] } },
        },
        rabbitmq: {
          type: 'object',
          additionalProperties: false,
          properties: {
            additionalPlugins: { type: 'array', maxItems: 100, items: { type: 'string', pattern: '^\\w+$' } },
            additionalConfig: { type: 'string', maxLength: 2_000 },
            advancedConfig: { type: 'string', maxLength: 100_000 },
            envConfig: { type: 'string', maxLength: 100_000 },
            erlangInetConfig: { type: 'string', maxLength: 2_000 },
          },
        },
        tls: {
          type: 'object',
          additionalProperties: false,
          properties: {
            secretName: { type: 'string' },
            caSecretName: { type: 'string' },
            disableNonTLSListeners: { type: 'boolean' },
          },
        },
      },
    },
  },
} as const
