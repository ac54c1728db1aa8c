import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built console. */
export interface ConsoleFiles {
  /** The page. `<base href="./">` in it is the place for the path to the console's root. */
  readonly page: string
  /** Paths by file name. Each name contains a hash of the contents. */
  readonly assets: ReadonlyMap<string, string>
}

/** `dist/app` is reached by the same relative path from `src` and from `dist`. */
const BUILT = fileURLToPath(new URL('../dist/app', import.meta.url))

const TYPES = new Set(['.js', '.css', '.svg'])

/** Finds the files that `make console` built. Returns undefined if there are none. */
export function loadConsole(folder: string = BUILT): ConsoleFiles | undefined {
  const [page, assets] = [join(folder, 'index.html'), join(folder, 'assets')]
  if (!existsSync(page) || !existsSync(assets)) return undefined
  const names = readdirSync(assets).filter((name) => TYPES.has(extname(name)))
  return { page: readFileSync(page, 'utf8'), assets: new Map(names.map((name) => [name, join(assets, name)])) }
}
