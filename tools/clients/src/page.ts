import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/test-servers'

export const page = readFileSync(join(repository, 'docs/clients.md'), 'utf8')

/** Commands of docs/clients.md, and the file that they run. */
export interface Listing {
  readonly commands: string
  readonly file: string
  readonly code: string
}

/** A file follows its commands, under its name. Absent: the commands only generate. */
export const listings: readonly Listing[] = [
  ...page.matchAll(/^```sh\n(.*?)^```(?:\n\n`(\S+)`:\n\n```\w+\n(.*?)^```)?$/gms),
].map(([, commands = '', file = '', code = '']) => ({ commands, file, code }))

/** @throws Error if the page has no such listing, or several */
export function listingWith(wanted: (listing: Listing) => boolean, name: string): Listing {
  const [found, ...others] = listings.filter(wanted)
  if (found === undefined || others.length > 0)
    throw new Error(`docs/clients.md has ${found ? 'several listings' : 'no listing'} for ${name}`)
  return found
}
