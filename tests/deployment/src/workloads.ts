import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exampleFile, type KubernetesObject, type Labels, parseObjects, repository } from '@switchhook/chart'

export interface Workload extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number
    readonly selector: { readonly matchLabels: Labels }
    readonly template: {
      readonly metadata: { readonly labels: Labels; readonly annotations?: Labels }
      readonly spec: PodSpec
    }
    readonly volumeClaimTemplates?: readonly {
      readonly metadata: { readonly name: string }
      readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } }
    }[]
  }
}

export interface PodSpec {
  readonly containers: readonly [Container, ...Container[]]
  readonly initContainers?: readonly Container[]
  readonly serviceAccountName?: string
  readonly automountServiceAccountToken?: boolean
  readonly enableServiceLinks?: boolean
  readonly priorityClassName?: string
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: object
  readonly topologySpreadConstraints?: readonly { readonly labelSelector: { readonly matchLabels: Labels } }[]
  readonly volumes?: readonly {
    readonly name: string
    readonly configMap?: { readonly name: string }
    readonly persistentVolumeClaim?: { readonly claimName: string }
    readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] }
  }[]
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env?: readonly EnvironmentVariable[]
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
  readonly securityContext: object
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [probe: `${string}Probe`]: { readonly httpGet?: { readonly path: string; readonly port: string } }
}

interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
}

export const isWorkload = (object: KubernetesObject): object is Workload =>
  object.kind === 'Deployment' || object.kind === 'StatefulSet'

/** @throws if there is none */
export function objectNamed(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}
export const workloadNamed = (objects: readonly KubernetesObject[], name: string): Workload =>
  objects.filter(isWorkload).find(({ metadata }) => metadata.name === name) as Workload

/** A file of `infra`. */
export const shipped = (path: string): string => readFileSync(join(repository, 'infra', path), 'utf8')

/** The pod in a file of `infra/helm/examples`. */
export const examplePod = (name: string): KubernetesObject & { spec: PodSpec } =>
  (parseObjects(readFileSync(exampleFile(name), 'utf8')) as [KubernetesObject & { spec: PodSpec }])[0]

export const podOf = ({ spec }: Workload): PodSpec => spec.template.spec
export const allContainers = ({ initContainers = [], containers }: PodSpec): readonly Container[] => [
  ...initContainers,
  ...containers,
]
export const containerOf = (workload: Workload): Container => podOf(workload).containers[0]

/** The decoded data of ConfigMaps and Secrets, by `<kind> <name>`. */
export function dataOf(objects: readonly KubernetesObject[]): ReadonlyMap<string, Labels> {
  return new Map(
    objects
      .filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret')
      .map((object) => {
        const { kind, metadata, data, stringData } = object as KubernetesObject & { data?: Labels; stringData?: Labels }
        const decode = (value: string): string => (kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value)
        const decoded = Object.entries(data ?? {}).map(([key, value]) => [key, decode(value)] as const)
        return [`${kind} ${metadata.name}`, { ...Object.fromEntries(decoded), ...stringData }] as const
      }),
  )
}

/**
 * The environment of a workload's container, as Kubernetes would assemble it.
 * @throws if a ConfigMap, a Secret or a key is missing
 */
export function environmentOf(workload: Workload, data: ReadonlyMap<string, Labels>): Record<string, string> {
  const look = (kind: string, name: string): Labels => {
    const found = data.get(`${kind} ${name}`)
    if (found === undefined)
      throw new Error(`${workload.metadata.name} refers to a ${kind} ${name} that does not exist`)
    return found
  }
  const { env = [], envFrom = [] } = containerOf(workload)
  const environment = Object.assign({}, ...envFrom.map(({ configMapRef }) => look('ConfigMap', configMapRef.name)))
  for (const { name, value, valueFrom } of env) {
    const secret = valueFrom?.secretKeyRef
    const given = secret === undefined ? value : look('Secret', secret.name)[secret.key]
    if (given === undefined) throw new Error(`${workload.metadata.name}: ${name} has no value`)
    environment[name] = given.replaceAll(/\$\(([A-Z_]+)\)/g, (_all, other: string) => {
      if (environment[other] === undefined) throw new Error(`${name} uses ${other}, which is not set before it`)
      return environment[other]
    })
  }
  return environment
}

export const matches = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
