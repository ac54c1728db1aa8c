import { gzipSync } from 'node:zlib'
import { type ConsoleFile, type ConsoleFiles, loadConsole } from '@switchhook/console'
import type { Bench } from '../bench.ts'

/** Sizes of the built console. */
export async function measureConsole({ say }: Bench) {
  const files = loadConsole()
  if (files === undefined) say('  not measured: the console is not built (make console)')
  return files && sizesOf(files)
}

/** Bytes with gzip. The page names the files that the sign-in page loads first. */
export function sizesOf({ page, assets }: ConsoleFiles) {
  const sum = (files: readonly (readonly [string, ConsoleFile])[]): number =>
    files.reduce((total, [, { gzip, bytes }]) => total + (gzip ?? bytes).length, gzipSync(page).length)
  const all = [...assets]
  return { firstLoadBytes: sum(all.filter(([name]) => page.includes(name))), allBytes: sum(all) }
}
