import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  digestSources,
  findKustomize,
  headerOf,
  kubernetesFolder,
  OVERLAYS,
  overlayFolder,
  parseObjects,
  readOverlay,
  renderedFile,
} from '@switchhook/manifests'

const kustomize = findKustomize()

test.each(OVERLAYS)('rendered %s is current (otherwise run make manifests)', (overlay) => {
  expect(readFileSync(renderedFile(overlay), 'utf8').split('\n')[0]).toBe(headerOf(digestSources()).trim())
})

// Skipped without kubectl and kustomize. The test above still checks that the rendered files are current.
;(kustomize === undefined ? test.skip : test).each(OVERLAYS)(
  'rendered %s equals the output of kustomize',
  (overlay) => {
    expect(parseObjects(kustomize?.(overlayFolder(overlay)) ?? '')).toEqual(readOverlay(overlay))
  },
)

test('every object matches the schema of its kind and has no unknown field', () => {
  const files = [
    ...OVERLAYS.map(renderedFile),
    join(kubernetesFolder, 'components/pod-monitor/pod-monitor.yaml'),
    join(kubernetesFolder, 'overlays/production/secrets.example.yaml'),
  ]
  const expected = files.flatMap((file) => parseObjects(readFileSync(file, 'utf8'))).length
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=source', join(import.meta.dirname, 'check-schemas.ts'), ...files],
    {
      encoding: 'utf8',
    },
  )
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ objects: expected, problems: [] })
})
