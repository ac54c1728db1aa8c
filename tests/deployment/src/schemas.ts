import type { KubernetesObject } from '@switchhook/manifests'

/** The packages that hold the published schemas, by the API group; `''` is Kubernetes' own. */
const PACKAGES: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
  '': 'kubernetes-models/',
}

/** What is wrong with an object by the schema of its kind, unknown fields included, which the API server would drop. */
export async function problemsOf(object: KubernetesObject): Promise<readonly string[]> {
  const { apiVersion, kind } = object
  if (apiVersion === 'rabbitmq.com/v1beta1') return rabbitmqClusterProblems(object)
  const [group = ''] = apiVersion.split('/')
  const module = (await import(`${PACKAGES[group] ?? PACKAGES['']}${apiVersion}`)) as Record<string, Model | undefined>
  const model = module[kind]
  if (model === undefined) return [`there is no schema for ${apiVersion} ${kind}`]
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

/** What a RabbitmqCluster (rabbitmq.com/v1beta1) may have, as far as it is used here. */
const RABBITMQ_CLUSTER = [
  'replicas',
  'image',
  'persistence',
  'resources',
  'terminationGracePeriodSeconds',
  'affinity',
  'rabbitmq',
]

/** Its schema is in no package; but what it passes on to its pods has one. */
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

/** Schemas of Kubernetes allow unknown fields: they are those that validation never looks at. */
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
