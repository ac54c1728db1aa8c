import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findKustomize } from './kustomize.ts'
import { digestSources, headerOf, OVERLAYS, overlayFolder, renderedFile } from './overlays.ts'

const build = findKustomize()
if (build === undefined) throw new Error('kubectl 1.29 or later (or kustomize 5) is needed to build the manifests')
const header = headerOf(digestSources())
for (const overlay of OVERLAYS) {
  const file = renderedFile(overlay)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, header + build(overlayFolder(overlay)))
}
