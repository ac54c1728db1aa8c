import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/test-servers'

/** The one place of the version. */
const SOURCE = 'package.json'
/**
 * The services read the runtime's, because images contain packages but not the root. The client, the receiver and the
 * command line are published. A chart has its own fields.
 */
const COPIES = [
  'packages/products/{cli,client,receiver}/package.json',
  'packages/runtime/package.json',
  'infra/**/Chart.yaml',
]

const IN_JSON = /(?<=^ {2}"version": ")[^"]*(?=",?$)/gm
const IN_CHART = /(?<=^(?:version|appVersion): "?)[^"\s]+(?="?$)/gm

const patternOf = (file: string): RegExp => (file.endsWith('.json') ? IN_JSON : IN_CHART)
const read = (file: string): string => readFileSync(join(repository, file), 'utf8')

/** Every file that contains the version, with the versions in it. */
export function versionsInFiles(): readonly (readonly [file: string, version: string])[] {
  const files = [SOURCE, ...globSync(COPIES, { cwd: repository, exclude: ['**/node_modules/**'] })]
  return files.flatMap((file) => [...read(file).matchAll(patternOf(file))].map(([version]) => [file, version] as const))
}

export function currentVersion(): string {
  const [first] = versionsInFiles()
  if (first === undefined) throw new Error(`${SOURCE} has no version`)
  return first[1]
}

export function writeVersion(version: string): void {
  for (const file of new Set(versionsInFiles().map(([file]) => file))) {
    writeFileSync(join(repository, file), read(file).replaceAll(patternOf(file), version))
  }
}
