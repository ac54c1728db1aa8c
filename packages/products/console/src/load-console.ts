import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A built file with its compressed forms. */
export interface ConsoleFile {
  readonly contentType: string
  readonly bytes: Buffer
  /** Absent if the file is too small to gain from compression. */
  readonly brotli?: Buffer
  readonly gzip?: Buffer
}

/** The built console: under 1 MB, so it is held in memory. */
export interface ConsoleFiles {
  /** The page. `<base href="./">` in it is the place for the path to the console's root. */
  readonly page: string
  /** By file name. Each name contains a hash of the contents. */
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** `dist/app` is reached by the same relative path from `src` and from `dist`. */
const BUILT = fileURLToPath(new URL('../dist/app', import.meta.url))

/** Reads the files that `make console` built. Returns undefined if there are none. */
export function loadConsole(folder: string = BUILT): ConsoleFiles | undefined {
  const page = join(folder, 'index.html')
  const assetFolder = join(folder, 'assets')
  if (!existsSync(page) || !existsSync(assetFolder)) return undefined
  const names = readdirSync(assetFolder)
  const assets = names.flatMap((name): [string, ConsoleFile][] => {
    const contentType = CONTENT_TYPES[extname(name)]
    if (contentType === undefined) return []
    const read = (suffix: string): Buffer | undefined =>
      names.includes(`${name}${suffix}`) ? readFileSync(join(assetFolder, `${name}${suffix}`)) : undefined
    const [brotli, gzip] = [read('.br'), read('.gz')]
    const bytes = readFileSync(join(assetFolder, name))
    return [[name, { contentType, bytes, ...(brotli && { brotli }), ...(gzip && { gzip }) }]]
  })
  return { page: readFileSync(page, 'utf8'), assets: new Map(assets) }
}
