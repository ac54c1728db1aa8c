import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const repository = join(import.meta.dirname, '../../..')

/** Runs a program and returns its output. @throws Error with the output of a program that fails */
export function runProgram(cwd: string, program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

/** A package as it is published. */
export interface PackedPackage {
  readonly tarball: string
  readonly names: readonly string[]
  /** Unpacks it into a folder, as an installation does. */
  install(folder: string): void
}

/** Packs a package of the repository with `pnpm pack`. @param into an empty folder for the archive */
export function packPackage(folder: string, into: string): PackedPackage {
  const [, pnpm = ''] = /^PNPM := npx --yes (\S+)$/m.exec(readFileSync(join(repository, 'Makefile'), 'utf8')) ?? []
  mkdirSync(into, { recursive: true })
  // Inside the repository, npx would first read all installed packages, which takes two seconds.
  runProgram(into, 'npx', '--yes', pnpm, '--dir', folder, 'pack', '--pack-destination', into)
  const tarball = join(into, readdirSync(into).find((name) => name.endsWith('.tgz')) ?? '')
  return {
    tarball,
    names: runProgram(into, 'tar', '--list', '--file', tarball).trim().split('\n'),
    install: (target) => {
      mkdirSync(target, { recursive: true })
      runProgram(target, 'tar', '--extract', '--gzip', '--strip-components=1', '--file', tarball)
    },
  }
}
