import { chunksWithin } from './in-chunks.ts'

type Argument = string | number | Buffer

/** A use of a script whose keys have one hash tag. Several uses can share a call. */
export interface ScriptPart {
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

/** The arguments of one call, because Redis serves nothing else while a script runs. A part is never divided. */
const CALL = { count: 1_500, bytes: 256 * 1_024 }

/**
 * Divides parts among as few calls as possible, in their order.
 * @param mayMixTags false: a call has the keys of one hash tag, as a cluster requires
 */
export function callsOf(parts: readonly ScriptPart[], mayMixTags: boolean): (readonly ScriptPart[])[] {
  const groups = mayMixTags ? [parts] : [...Map.groupBy(parts, ({ keys: [key = ''] }) => tagOf(key)).values()]
  return groups.flatMap((group) => [...chunksWithin(CALL, group, sizeOf)])
}

const sizeOf = ({ args }: ScriptPart) => ({
  count: args.length,
  bytes: args.reduce<number>((sum, arg) => sum + (typeof arg === 'number' ? 8 : arg.length), 0),
})

/** The part of a key in braces decides on which node of a cluster it is. */
const tagOf = (key: string): string => key.slice(key.indexOf('{') + 1, key.indexOf('}'))
