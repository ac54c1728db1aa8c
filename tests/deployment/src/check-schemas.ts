import { readFileSync } from 'node:fs'
import { type KubernetesObject, parseObjects } from '@switchhook/manifests'

/** The packages with the published schemas, by API group; `''` stands for Kubernetes itself. */
const PACKAGES: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
  '': 'kubernetes-models/',
}

/** Validates an object against the schema of its kind. Also reports unknown fields, which the API server would drop. */
async function problemsOf(object: KubernetesObject): Promise<readonly string[]> {
  const { apiVersion, kind } = object
  if (apiVersion === 'rabbitmq.com/v1beta1') return rabbitmqClusterProblems(object)
  const [group = ''] = apiVersion.split('/')
  const module = (await import(`${PACKAGES[group] ?? PACKAGES['']}${apiVersion}`)) as Record<string, Model | undefined>
  const model = module[kind]
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`]
  const { watched, unread } = watch(object)
  return [...validate(model, watched), ...unread().map((path) => `${path} is unknown`)]
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

/** The fields of RabbitmqCluster (rabbitmq.com/v1beta1) that the manifests use. */
const RABBITMQ_CLUSTER = [
  'replicas',
  'image',
  'persistence',
  'resources',
  'terminationGracePeriodSeconds',
  'affinity',
  'rabbitmq',
]

/** No package has the schema of RabbitmqCluster, so the fields that become a pod are validated as a pod. */
async function rabbitmqClusterProblems({ metadata, spec }: KubernetesObject): Promise<readonly string[]> {
  const { image, resources, affinity, terminationGracePeriodSeconds } = spec as Record<string, unknown>
  const container = { name: 'rabbitmq', image, resources }
  const pod = { containers: [container], affinity, terminationGracePeriodSeconds }
  const unknown = Object.keys(spec as object).filter((field) => !RABBITMQ_CLUSTER.includes(field))
  return [
    ...unknown.map((field) => `/spec/${field} is unknown`),
    ...(await problemsOf({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod })),
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

// Runs as a separate process, because the schemas are ES modules, which Jest cannot import. Takes files, prints problems.
const problems: string[] = []
let objects = 0
for (const file of process.argv.slice(2)) {
  for (const object of parseObjects(readFileSync(file, 'utf8'))) {
    objects += 1
    for (const problem of await problemsOf(object)) {
      problems.push(`${file} ${object.kind} ${object.metadata.name}: ${problem}`)
    }
  }
}
process.stdout.write(JSON.stringify({ objects, problems }))
