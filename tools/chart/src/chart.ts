import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { createFileCache, repository } from './file-cache.ts'
import { findProgram, type ProgramResult, runProgram } from './programs.ts'

export { repository }

/** Any Kubernetes object of the chart. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Labels
    readonly annotations?: Labels
  }
  readonly [field: string]: unknown
}

export type Labels = Readonly<Record<string, string>>

const folder = join(repository, 'infra', 'helm')
const chartFolder = join(folder, 'switchhook')

export const exampleFile = (name: string): string => join(folder, 'examples', `${name}.yaml`)

/** The documented combinations of values: the files of `infra/helm/examples` that each is made of, in their order. */
export const COMBINATIONS = {
  development: ['development'],
  production: ['production'],
  'without-keda': ['production', 'without-keda'],
  external: ['production', 'external', 'monitoring'],
  gateway: ['production', 'gateway'],
  console: ['production', 'console'],
  tls: ['production', 'tls'],
  monitoring: ['production', 'monitoring'],
  tracing: ['production', 'tracing'],
  asterisk: ['production', 'asterisk'],
  networks: ['production', 'networks'],
  ipv6: ['production', 'ipv6'],
  'roll-back': ['production', 'roll-back'],
  backup: ['production', 'backup'],
  everything: ['production', 'tls', 'monitoring', 'tracing', 'networks', 'backup'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Combination = keyof typeof COMBINATIONS

/** The combinations that are kept as rendered, so that a review sees what a change does to the objects. */
export const RENDERED = ['development', 'production'] as const satisfies readonly Combination[]

export const renderedFile = (combination: Combination): string => join(folder, 'rendered', `${combination}.yaml`)

/** Runs `helm` with the chart as its last argument. `overrides` are `--set` arguments. */
export const runHelm = (...args: Parameters<typeof helmArguments>): ProgramResult =>
  runProgram('helm', helmArguments(...args))

const helmArguments = (
  command: readonly string[],
  combination: Combination,
  overrides: readonly string[] = [],
): readonly string[] => [
  ...command,
  ...COMBINATIONS[combination].map((name) => `--values=${exampleFile(name)}`),
  ...overrides.map((override) => `--set=${override}`),
  chartFolder,
]

export const runKubectl = (args: readonly string[]): ProgramResult => runProgram('kubectl', args)

/** What `helm template` makes of these arguments: the text, and its objects, which take longer to parse than to render. */
interface Rendered {
  readonly text: string
  readonly objects: readonly KubernetesObject[]
}

const rendered = createFileCache<Rendered>('rendered', [chartFolder, join(folder, 'examples')])

/** @throws if Helm rejects the values */
function render(
  combination: Combination,
  { namespace = 'switchhook', overrides = [] }: { namespace?: string; overrides?: readonly string[] } = {},
): Rendered {
  const args = helmArguments(['template', 'switchhook', `--namespace=${namespace}`], combination, overrides)
  return rendered([findProgram('helm'), ...args], () => {
    const { status, stdout, stderr } = runProgram('helm', args)
    if (status !== 0) throw new Error(`helm cannot render ${combination}: ${stderr}`)
    return { text: stdout, objects: parseObjects(stdout) }
  })
}

export const renderText = (...args: Parameters<typeof render>): string => render(...args).text

export const renderObjects = (...args: Parameters<typeof render>): readonly KubernetesObject[] =>
  render(...args).objects

/** @throws if the text is not valid YAML */
export const parseObjects = (yaml: string): readonly KubernetesObject[] =>
  parseAllDocuments(yaml).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return (document.toJS() as KubernetesObject | null) ?? []
  })
