import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** A Kubernetes object; what tests look at is looked up by `at`. */
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

/** Everything that an overlay deploys, as it was last built. */
export const readOverlay = (overlay: Overlay): readonly KubernetesObject[] =>
  parseObjects(readFileSync(renderedFile(overlay), 'utf8'))

/** The first line of a built overlay: of which sources it is made. */
export const headerOf = (digest: string): string =>
  `# Built from infra/kubernetes by \`make manifests\`; not to be edited. Sources: sha256:${digest}\n`

/** Changes with every change of a source, so that a built overlay which is out of date shows without building it. */
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
