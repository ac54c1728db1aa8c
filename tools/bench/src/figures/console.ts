import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type ConsoleFiles, loadConsole } from '@switchhook/console'
import type { Bench } from '../bench.ts'

/** Sizes of the built console. */
export async function measureConsole({ say }: Bench) {
  const files = loadConsole()
  if (files === undefined) say('  not measured: the console is not built (make console)')
  return files && sizesOf(files)
}

/** Bytes as they are sent: with gzip, if that is smaller. The page names the files that the sign-in page loads first. */
export function sizesOf({ page, assets }: ConsoleFiles) {
  const sum = (files: readonly (readonly [string, string])[]): number =>
    files.reduce((total, [, path]) => total + sentBytes(readFileSync(path)), gzipSync(page).length)
  const all = [...assets]
  return { firstLoadBytes: sum(all.filter(([name]) => page.includes(name))), allBytes: sum(all) }
}

const sentBytes = (bytes: Buffer): number => Math.min(gzipSync(bytes).length, bytes.length)
