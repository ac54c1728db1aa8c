import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '@switchhook/test-servers'

const run = promisify(execFile)

/**
 * The commit that updates start from: the latest release that this commit follows. Until 0.2.0, the first one that upgrades are
 * promised from, is tagged, it is the last commit: the working tree must run next to that. Undefined without a clone.
 */
export function previousVersion(): string | undefined {
  for (const describe of [
    ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'],
    ['rev-parse', 'HEAD'],
  ]) {
    try {
      return commitOf(execFileSync('git', describe, { cwd: repository, encoding: 'utf8', stdio: 'pipe' }).trim())
    } catch {}
  }
  return undefined
}

/** The full hash of a branch, tag or abbreviated hash. @throws Error if the clone does not have it */
export function commitOf(ref: string): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]
    return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
  } catch {
    throw new Error(`${ref} is not a commit of this clone`)
  }
}

/** Written last, so that an interrupted build does not have it. */
const BUILT = '.built'

/** Builds a commit once, in its own folder, and returns the folder. */
export async function buildVersion(commit: string): Promise<string> {
  const folder = join(repository, '.local', 'versions', commit)
  if (existsSync(join(folder, BUILT))) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const archive = join(folder, 'source.tar')
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: repository })
  await run('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  await install(folder)
  await run(join(folder, 'node_modules', '.bin', 'tsc'), ['-b'], { cwd: folder })
  writeFileSync(join(folder, BUILT), '')
  return folder
}

/** Installs from pnpm's store if it is complete, otherwise from the registry. */
async function install(folder: string): Promise<void> {
  // The Makefile pins pnpm. Install scripts are skipped, because they would install git hooks and another Node.
  const [, pnpm = 'pnpm'] = /^PNPM := npx --yes (\S+)$/m.exec(readFileSync(join(folder, 'Makefile'), 'utf8')) ?? []
  const install = (...more: string[]): Promise<unknown> =>
    run('npx', ['--yes', pnpm, 'install', '--frozen-lockfile', '--ignore-scripts', ...more], { cwd: folder })
  await install('--offline').catch(() => install())
}
