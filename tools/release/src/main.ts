import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/test-servers'
import { cutChangelog } from './changelog.ts'
import { compareVersions, isVersion } from './version.ts'
import { currentVersion, writeVersion } from './version-files.ts'

const CHANGELOG = join(repository, 'CHANGELOG.md')

const git = (...args: string[]): string => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()

/** Prepares a release in the working tree: version and changelog. */
function main(version: string | undefined): void {
  const current = currentVersion()
  if (version === undefined || !isVersion(version)) {
    throw new Error(`VERSION must be a semantic version, for example: make release VERSION=1.2.3 (now ${current})`)
  }
  const tags = git('tag', '--list', 'v*').split('\n')
  if (tags.includes(`v${version}`)) throw new Error(`the tag v${version} exists already`)
  if (compareVersions(version, current) <= 0) throw new Error(`VERSION=${version} must be above ${current}`)
  if (git('status', '--porcelain') !== '') throw new Error('commit or stash your changes first: git status')

  const today = new Date().toISOString().slice(0, 10)
  writeFileSync(CHANGELOG, cutChangelog(readFileSync(CHANGELOG, 'utf8'), version, today))
  writeVersion(version)
  process.stdout.write(`Prepared ${version}. Nothing is committed or pushed. Next (docs/releasing.md):

  git diff
  git commit --all --message "Release ${version}"
  git tag --sign v${version} --message "Switchhook ${version}"
  make images
`)
}

try {
  main(process.env['VERSION'])
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
