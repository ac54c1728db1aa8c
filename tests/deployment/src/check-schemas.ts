import { text } from 'node:stream/consumers'
import type { KubernetesObject } from '@switchhook/chart'
import { Ajv } from 'ajv'
import { RABBITMQ_CLUSTER } from './rabbitmq-cluster-schema.ts'

/** The packages with the published schemas (MIT), by API group; `''` stands for Kubernetes itself. */
const PACKAGES: Readonly<Record<string, string>> = {
  'cert-manager.io': '@kubernetes-models/cert-manager/',
  'external-secrets.io': '@kubernetes-models/external-secrets/',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api/',
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
  '': 'kubernetes-models/',
}

/** Validates an object against the schema of its kind. Also reports unknown fields, which the API server would drop. */
async function problemsOf(object: KubernetesObject): Promise<readonly string[]> {
  const { apiVersion, kind } = object
  if (apiVersion === 'rabbitmq.com/v1beta1') return rabbitmqClusterProblems(object)
  const [group = ''] = apiVersion.split('/')
  const model = await modelOf(`${PACKAGES[group] ?? PACKAGES['']}${apiVersion}/${kind}`, kind)
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`]
  const { watched, unread } = watch(object)
  return [...validate(model, watched), ...unread().map((path) => `${path} is unknown`)]
}

/** One module per kind, because those of a whole version take a second to load. */
async function modelOf(module: string, kind: string): Promise<Model | undefined> {
  try {
    return ((await import(module)) as Record<string, Model | undefined>)[kind]
  } catch (error) {
    if (['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes((error as { code: string }).code)) return
    throw error
  }
}

interface Model {
  readonly prototype: { readonly validate: (this: unknown) => void }
}

function validate(model: Model, object: object): readonly string[] {
  try {
    model.prototype.validate.call(object)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

const isRabbitmqCluster = new Ajv({ allErrors: true, strict: false }).compile(RABBITMQ_CLUSTER)

/** The operator's schema, and Kubernetes' own for the fields that become a pod. */
async function rabbitmqClusterProblems(object: KubernetesObject): Promise<readonly string[]> {
  isRabbitmqCluster(object)
  const { image, resources, affinity, tolerations, terminationGracePeriodSeconds } = object['spec'] as Record<
    string,
    unknown
  >
  const container = { name: 'rabbitmq', image, resources }
  const spec = {
    containers: [container],
    affinity,
    terminationGracePeriodSeconds,
    ...(tolerations ? { tolerations } : {}),
  }
  return [
    ...(isRabbitmqCluster.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    ),
    ...(await problemsOf({ apiVersion: 'v1', kind: 'Pod', metadata: object.metadata, spec })),
  ]
}

/** Kubernetes schemas allow unknown fields. They are found as the fields that validation never reads. */
function watch(data: object): { readonly watched: object; readonly unread: () => readonly string[] } {
  const unread = new Set<string>()
  const wrap = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const inner = new Map(Object.entries(value).map(([name, field]) => [name, wrap(field, `${path}/${name}`)] as const))
    for (const name of inner.keys()) unread.add(`${path}/${name}`)
    return new Proxy(value, {
      get: (target, name) => {
        if (typeof name !== 'string' || !inner.has(name)) return Reflect.get(target, name) as unknown
        unread.delete(`${path}/${name}`)
        return inner.get(name)
      },
    })
  }
  const isBelowUnread = (path: string): boolean => unread.has(path.slice(0, path.lastIndexOf('/')))
  return { watched: wrap(data, '') as object, unread: () => [...unread].filter((path) => !isBelowUnread(path)) }
}

// Runs as a separate process, because the schemas are ES modules, which Jest cannot import. Reads objects, by the name of
// their source, from standard input; writes their number and the problems.
const sources = JSON.parse(await text(process.stdin)) as Readonly<Record<string, readonly KubernetesObject[]>>
const problems: string[] = []
let objects = 0
for (const [source, found] of Object.entries(sources)) {
  for (const object of found) {
    objects += 1
    for (const problem of await problemsOf(object)) {
      problems.push(`${source}: ${object.kind} ${object.metadata.name}: ${problem}`)
    }
  }
}
process.stdout.write(JSON.stringify({ objects, problems }))
