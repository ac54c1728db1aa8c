import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** Any Kubernetes object of an overlay. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels }
  readonly [field: string]: unknown
}

export type Labels = Readonly<Record<string, string>>

export const repository = join(import.meta.dirname, '..', '..', '..')
export const kubernetesFolder = join(repository, 'infra', 'kubernetes')
export const OVERLAYS = ['development', 'production', 'production-without-keda'] as const
export type Overlay = (typeof OVERLAYS)[number]

export const overlayFolder = (overlay: Overlay): string => join(kubernetesFolder, 'overlays', overlay)
export const renderedFile = (overlay: Overlay): string => join(kubernetesFolder, 'rendered', `${overlay}.yaml`)

export const parseObjects = (yaml: string): readonly KubernetesObject[] =>
  parseAllDocuments(yaml).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return (document.toJS() as KubernetesObject | null) ?? []
  })

/** The objects of an overlay as they were last rendered. */
export const readOverlay = (overlay: Overlay): readonly KubernetesObject[] =>
  parseObjects(readFileSync(renderedFile(overlay), 'utf8'))

/** The first line of a rendered overlay: the digest of its sources. */
export const headerOf = (digest: string): string =>
  `# Built from infra/kubernetes by \`make manifests\`; not to be edited. Sources: sha256:${digest}\n`

/** The digest of all sources, so that a test without kubectl can tell whether the rendered files are current. */
export function digestSources(): string {
  const hash = createHash('sha256')
  const files = ['base', 'components', 'overlays']
    .flatMap((folder) => readdirSync(join(kubernetesFolder, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.toSorted())
    hash.update(`${relative(kubernetesFolder, file)}\0${readFileSync(file, 'utf8')}\0`)
  return hash.digest('hex')
}

/** The overlays use features that are newer than kustomize 4. */
const MINIMUM_MAJOR = 5

const PROGRAMS = [
  { command: 'kubectl', version: ['version', '--client', '--output=json'], build: ['kustomize'] },
  { command: 'kustomize', version: ['version'], build: ['build'] },
] as const

/** Returns a function that renders an overlay, or undefined if neither kubectl nor kustomize is recent enough. */
export function findKustomize(): ((folder: string) => string) | undefined {
  const program = PROGRAMS.find(({ command, version }) => {
    const { status, stdout } = spawnSync(command, version, { encoding: 'utf8' })
    const [, major] = /(?:"kustomizeVersion": "|^)v(\d+)/m.exec(stdout ?? '') ?? []
    return status === 0 && Number(major) >= MINIMUM_MAJOR
  })
  if (program === undefined) return undefined
  return (folder) => {
    const { status, stdout, stderr } = spawnSync(program.command, [...program.build, folder], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    })
    if (status !== 0) throw new Error(`${program.command} could not build ${folder}: ${stderr}`)
    return stdout
  }
}
