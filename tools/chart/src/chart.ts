import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type ProgramResult, runProgram } from './programs.ts'

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

export const repository = join(import.meta.dirname, '..', '..', '..')
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
  'roll-back': ['production', 'roll-back'],
  backup: ['production', 'backup'],
  everything: ['production', 'tls', 'monitoring', 'tracing', 'networks', 'backup'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Combination = keyof typeof COMBINATIONS

/** The combinations that are kept as rendered, so that a review sees what a change does to the objects. */
export const RENDERED = ['development', 'production'] as const satisfies readonly Combination[]

export const renderedFile = (combination: Combination): string => join(folder, 'rendered', `${combination}.yaml`)

/** Runs `helm` with the chart as its last argument. `overrides` are `--set` arguments. */
export function runHelm(
  command: readonly string[],
  combination: Combination,
  overrides: readonly string[] = [],
): ProgramResult {
  const values = COMBINATIONS[combination].map((name) => `--values=${exampleFile(name)}`)
  return runProgram('helm', [...command, ...values, ...overrides.map((override) => `--set=${override}`), chartFolder])
}

export const runKubectl = (args: readonly string[]): ProgramResult => runProgram('kubectl', args)

/** What Helm has rendered, by its arguments: tests ask for the same objects many times. */
const rendered = new Map<string, string>()

/** @throws if Helm rejects the values */
export function renderText(
  combination: Combination,
  { namespace = 'switchhook', overrides = [] }: { namespace?: string; overrides?: readonly string[] } = {},
): string {
  const key = [combination, namespace, ...overrides].join('\n')
  const known = rendered.get(key)
  if (known !== undefined) return known
  const command = ['template', 'switchhook', `--namespace=${namespace}`]
  const { status, stdout, stderr } = runHelm(command, combination, overrides)
  if (status !== 0) throw new Error(`helm cannot render ${combination}: ${stderr}`)
  rendered.set(key, stdout)
  return stdout
}

export const renderObjects = (...args: Parameters<typeof renderText>): readonly KubernetesObject[] =>
  parseObjects(renderText(...args))

/** @throws if the text is not valid YAML */
export const parseObjects = (yaml: string): readonly KubernetesObject[] =>
  parseAllDocuments(yaml).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return (document.toJS() as KubernetesObject | null) ?? []
  })
