import type { LookupAddress } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'

/** How this machine completes names: resolv.conf(5). */
export interface SearchRules {
  readonly search: readonly string[]
  /** A name with at least as many dots is first asked for as it is. */
  readonly ndots: number
}

/** The limit of resolv.conf(5). */
const MAX_NDOTS = 15
const MAX_NAME = 253

/** The addresses by name, in lower case: hosts(5). */
export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const found = new Map<string, LookupAddress[]>()
  for (const [address, ...names] of linesOf(text)) {
    const family = isIP(address ?? '')
    if (address === undefined || family === 0) continue
    for (const name of names) {
      const known = found.get(name.toLowerCase()) ?? []
      if (!known.some((one) => one.address === address)) known.push({ address, family })
      found.set(name.toLowerCase(), known)
    }
  }
  return found
}

/** @param ownName the name of this machine, whose domain is searched if the file names none */
export function parseSearchRules(text: string, ownName = hostname()): SearchRules {
  const ownDomain = ownName.split('.').slice(1).join('.')
  let search: readonly string[] = ownDomain === '' ? [] : [ownDomain]
  let ndots = 1
  for (const [keyword, ...values] of linesOf(text)) {
    if (keyword === 'search') search = values
    else if (keyword === 'domain') search = values.slice(0, 1)
    else if (keyword === 'options') {
      const given = values.findLast((option) => /^ndots:\d+$/.test(option))?.slice('ndots:'.length)
      if (given !== undefined) ndots = Math.min(Number(given), MAX_NDOTS)
    }
  }
  return { search: search.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== ''), ndots }
}

/** The names to ask the name servers for, in this order. A name that ends with a dot is complete. */
export function candidatesOf(name: string, { search, ndots }: SearchRules): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const below = search.map((domain) => `${name}.${domain}`).filter((full) => full.length <= MAX_NAME)
  return name.split('.').length - 1 >= ndots ? [name, ...below] : [...below, name]
}

/** The words of each line. `;` begins a comment in resolv.conf only, and is in no name. */
const linesOf = (text: string): readonly string[][] =>
  text.split('\n').map((line) =>
    line
      .split(/[#;]/, 1)
      .join('')
      .split(/\s+/)
      .filter((word) => word !== ''),
  )

/**
 * What a file contains, parsed again only when it has changed. A look at it takes a few microseconds, on this thread: the
 * threads of asynchronous reads may be busy. A file that cannot be read counts as empty.
 */
export function watchedFile<T>(path: string, parse: (text: string) => T): () => T {
  let version: string | undefined
  let content = parse('')
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(path)
      const found = `${mtimeMs} ${size} ${ino}`
      if (found !== version) [content, version] = [parse(readFileSync(path, 'utf8')), found]
    } catch {
      if (version !== undefined) [content, version] = [parse(''), undefined]
    }
    return content
  }
}
