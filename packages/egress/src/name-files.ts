import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { getOrCreate } from '@switchhook/runtime'

/** The limit of resolv.conf(5). */
const MAX_NDOTS = 15
const MAX_NAME = 253

/** The addresses by name, in lower case: hosts(5). */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line.replace(/#.*/, ''))
    // The system knows no address with a scope here, such as fe80::1%eth0.
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const name of names) {
      const known = getOrCreate(found, name.toLowerCase(), (): string[] => [])
      if (!known.includes(address)) known.push(address)
    }
  }
  return found
}

/**
 * How this machine completes names: resolv.conf(5), as glibc reads it. Only a line that begins with the keyword counts, and what
 * follows is no comment. A name with at least `ndots` dots is first asked for as it is.
 * @param ownName the name of this machine, whose domain is searched if the file names none
 */
export function parseSearchRules(text: string, ownName = hostname()) {
  const ownDomain = ownName.split('.').slice(1).join('.')
  let search: readonly string[] = ownDomain === '' ? [] : [ownDomain]
  let ndots = 1
  for (const line of text.split('\n')) {
    const [keyword, ...values] = /^\s/.test(line) ? [] : wordsOf(line)
    if (keyword === 'search' && values.length > 0) search = values
    else if (keyword === 'domain' && values.length > 0) search = values.slice(0, 1)
    else if (keyword === 'options') {
      // Nothing is 0, as for C's atoi.
      for (const [, digits] of values.join(' ').matchAll(/(?:^| )ndots: ?(\d*)/g))
        ndots = Math.min(Number(digits), MAX_NDOTS)
    }
  }
  return { search: search.map((domain) => domain.replace(/\.$/, '')), ndots }
}

/**
 * The names to ask the name servers for, in this order. A name that ends with a dot is complete. The domain `.` in the
 * search list (here an empty text) asks for the name as it is.
 */
export function candidatesOf(name: string, { search, ndots }: ReturnType<typeof parseSearchRules>): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const below = search
    .map((domain) => (domain === '' ? name : `${name}.${domain}`))
    .filter((full) => full.length <= MAX_NAME)
  return [...new Set(name.split('.').length - 1 >= ndots ? [name, ...below] : [...below, name])]
}

const wordsOf = (line: string): readonly string[] => line.split(/\s+/).filter((word) => word !== '')

/**
 * What a file contains, parsed again only when it has changed. A look at it takes a few microseconds, on this thread: the
 * threads of asynchronous reads may be busy. A file that cannot be read counts as empty.
 */
export function watchedFile<T>(path: string, parse: (text: string) => T): () => T {
  let version: string | undefined
  let content = parse('')
  return () => {
    try {
      const { ctimeMs, size, ino } = statSync(path)
      // Programs that copy a file may keep its time of modification, but not this one.
      const found = `${ctimeMs} ${size} ${ino}`
      if (found !== version) [content, version] = [parse(readFileSync(path, 'utf8')), found]
    } catch {
      if (version !== undefined) [content, version] = [parse(''), undefined]
    }
    return content
  }
}
