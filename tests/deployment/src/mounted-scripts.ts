import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Combination, renderObjects } from '@switchhook/chart'
import { dataOf } from './workloads.ts'

/** Writes the files of a rendered ConfigMap as a kubelet mounts them: each name is a link through `..data`. */
export function mountConfigMap(name: string, combination: Combination): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-mount-'))
  const revision = '..2026_11_22_10_00_00.0123456789'
  mkdirSync(join(folder, revision))
  symlinkSync(revision, join(folder, '..data'))
  const files = Object.entries(dataOf(renderObjects(combination)).get(`ConfigMap ${name}`) ?? {})
  if (files.length === 0) throw new Error(`there is no ConfigMap ${name}`)
  for (const [file, content] of files) {
    writeFileSync(join(folder, revision, file), content)
    symlinkSync(join('..data', file), join(folder, file))
  }
  return folder
}
