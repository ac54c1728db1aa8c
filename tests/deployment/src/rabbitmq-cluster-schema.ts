const text = { type: 'string' } as const
const texts = { type: 'object', additionalProperties: { type: 'string' } } as const
const labelsAndAnnotations = {
  type: 'object',
  additionalProperties: false,
  properties: { labels: texts, annotations: texts },
} as const
const secretReference = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1 } },
} as const
/** The largest value of the CRD's 32-bit integers. */
const INT32 = 2_147_483_647

/**
 * The fields of RabbitmqCluster (rabbitmq.com/v1beta1), written by hand and compared with three CRDs: commit a28e3d9 of
 * rabbitmq/cluster-operator, 2.9.0 as kept in bitnami/charts, and a newer copy in datreeio/CRDs-catalog. Where they differ,
 * the narrower limit applies, because the chart supports every operator 2: additionalConfig has at most 2,000 characters
 * up to 2.9, and 100,000 later. Fields that only newer operators know (service.labels, persistence.emptyDir,
 * autoEnableAllFeatureFlags) are unknown here. Fields with Kubernetes' own types (affinity, resources, …) are free here,
 * because they are validated as those of a pod.
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
        replicas: { type: 'integer', minimum: 0, maximum: INT32 },
        image: text,
        imagePullSecrets: { type: 'array', items: secretReference },
        terminationGracePeriodSeconds: { type: 'integer', minimum: 0 },
        delayStartSeconds: { type: 'integer', minimum: 0, maximum: INT32 },
        skipPostDeploySteps: { type: 'boolean' },
        resources: { type: 'object' },
        affinity: { type: 'object' },
        tolerations: { type: 'array' },
        override: {
          type: 'object',
          additionalProperties: false,
          properties: {
            service: {
              type: 'object',
              additionalProperties: false,
              properties: { metadata: labelsAndAnnotations, spec: { type: 'object' } },
            },
            statefulSet: {
              type: 'object',
              additionalProperties: false,
              properties: { metadata: labelsAndAnnotations, spec: { type: 'object' } },
            },
          },
        },
        secretBackend: {
          type: 'object',
          additionalProperties: false,
          properties: {
            externalSecret: secretReference,
            vault: {
              type: 'object',
              additionalProperties: false,
              properties: {
                role: text,
                annotations: texts,
                defaultUserPath: text,
                defaultUserUpdaterImage: text,
                tls: {
                  type: 'object',
                  additionalProperties: false,
                  properties: {
                    pkiIssuerPath: text,
                    pkiRootPath: text,
                    commonName: text,
                    altNames: text,
                    ipSans: text,
                  },
                },
              },
            },
          },
        },
        service: {
          type: 'object',
          additionalProperties: false,
          properties: {
            type: { enum: ['ClusterIP', 'LoadBalancer', 'NodePort'] },
            annotations: texts,
            ipFamilyPolicy: { enum: ['SingleStack', 'PreferDualStack', 'RequireDualStack'] },
          },
        },
        persistence: {
          type: 'object',
          additionalProperties: false,
          properties: {
            storageClassName: text,
            // Narrower than the CRD, which also allows signs, exponents and fractions of a byte.
            storage: { type: ['string', 'integer'], minimum: 0, pattern: '^\\d+(\\.\\d+)?([KMGTPE]i|[kMGTPE])?$' },
          },
        },
        rabbitmq: {
          type: 'object',
          additionalProperties: false,
          properties: {
            additionalPlugins: {
              type: 'array',
              maxItems: 100,
              items: { type: 'string', maxLength: 100, pattern: '^\\w+$' },
            },
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
            secretName: text,
            caSecretName: text,
            disableNonTLSListeners: { type: 'boolean' },
          },
        },
      },
    },
  },
} as const
