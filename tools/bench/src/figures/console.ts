import { gzipSync } from 'node:zlib'
import { type ConsoleFile, type ConsoleFiles, loadConsole } from '@switchhook/console'
import type { Bench } from '../bench.ts'
import { round } from '../measure/statistics.ts'

/** Bytes with gzip. */
export interface ConsoleFigure {
  /** What the sign-in page loads. */
  readonly firstLoadBytes: number
  readonly allBytes: number
}

/** Sizes of the built console. */
export async function measureConsole({ say }: Bench): Promise<ConsoleFigure | undefined> {
  const files = loadConsole()
  if (files === undefined) {
    say('  not measured: the console is not built (make console)')
    return undefined
  }
  const sizes = sizesOf(files)
  say(`  first load ${kib(sizes.firstLoadBytes)} KiB, all files ${kib(sizes.allBytes)} KiB, with gzip`)
  return sizes
}

/** The page names the files that it loads first. */
export function sizesOf({ page, assets }: ConsoleFiles): ConsoleFigure {
  const sum = (files: readonly (readonly [string, ConsoleFile])[]): number =>
    files.reduce((total, [, file]) => total + sent(file), gzipSync(page).length)
  const all = [...assets]
  return { firstLoadBytes: sum(all.filter(([name]) => page.includes(name))), allBytes: sum(all) }
}

const sent = ({ gzip, bytes }: ConsoleFile): number => (gzip ?? bytes).length

const kib = (bytes: number): number => round(bytes / 1_024)
