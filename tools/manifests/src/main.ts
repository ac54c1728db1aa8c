import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { digestSources, findKustomize, headerOf, OVERLAYS, overlayFolder, renderedFile } from './overlays.ts'

const render = findKustomize()
if (render === undefined) throw new Error('make manifests needs kubectl 1.29 or later, or kustomize 5')
const header = headerOf(digestSources())
for (const overlay of OVERLAYS) {
  const file = renderedFile(overlay)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, header + render(overlayFolder(overlay)))
}
