import { Cluster, type Redis as Single } from 'ioredis'
import type { RedisClient } from './client.ts'
import { chunksWithin } from './in-chunks.ts'
import { isRefusal } from './replies.ts'
import type { ScriptName, ScriptReplies } from './scripts.ts'

type Argument = string | number | Buffer

/** A use of a script whose keys have one hash tag. Several uses can share a call. */
export interface ScriptPart {
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

export type Commands = ReturnType<typeof withScripts>

export function withScripts(client: RedisClient) {
  const scripts = client as unknown as Record<ScriptName, (keyCount: number, ...rest: unknown[]) => Promise<unknown>>
  const runScript = <Name extends ScriptName>(
    name: Name,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<ScriptReplies[Name]> => scripts[name](keys.length, ...keys, ...args) as Promise<ScriptReplies[Name]>
  // The address of one Redis can lead to a cluster behind a proxy. Its first refusal is remembered.
  let mayMixTags = !(client instanceof Cluster)
  const noteRefusal = (error: unknown): void => {
    if (!isRefusal(error)) throw error
    if (error.message.startsWith('CROSSSLOT')) mayMixTags = false
  }

  /**
   * Runs a script for many parts, whose hash tags may differ, in as few calls as possible: in a cluster, one or more for
   * each tag. The script must be repeatable: if Redis refuses a part, the other parts of its call are sent again.
   * @returns the reply to each call
   */
  async function runParts<Name extends ScriptName>(
    name: Name,
    parts: readonly ScriptPart[],
  ): Promise<ScriptReplies[Name][]> {
    const call = (some: readonly ScriptPart[]): Promise<ScriptReplies[Name]> => {
      const keys = some.flatMap((part) => part.keys)
      const args = some.flatMap((part) => part.args)
      return runScript(name, keys, args)
    }
    const replies = await Promise.all(
      callsOf(parts, mayMixTags).map(async (some) => {
        try {
          return [await call(some)]
        } catch (error) {
          if (some.length === 1) throw error
          noteRefusal(error)
          // A key that holds something else must not affect the other parts: all are awaited before one rejects.
          const alone = some.map((part) => call([part]))
          await Promise.allSettled(alone)
          return await Promise.all(alone)
        }
      }),
    )
    return replies.flat()
  }

  /** The strings at keys whose hash tags may differ. */
  async function getEach(keys: readonly string[]): Promise<(string | null)[]> {
    const getEachKey = (): Promise<(string | null)[]> => Promise.all(keys.map((key) => client.get(key)))
    if (!mayMixTags || keys.length <= 1) return await getEachKey()
    try {
      return await client.mget([...keys])
    } catch (error) {
      noteRefusal(error)
      return await getEachKey()
    }
  }

  return Object.assign(
    // The cast holds for a cluster too: it has the same commands.
    client as Single,
    {
      runScript,
      runParts,
      getEach,
      /** Redis' clock, in ms since 1970. In a cluster it is the clock of one node. */
      async nowMs(): Promise<number> {
        const [seconds, micros] = await client.time()
        return Number(seconds) * 1_000 + Number(micros) / 1_000
      },
      /** In a cluster, a call for keys of several hash tags is refused, or fails if one of their primaries is away. */
      mayMixTags: (): boolean => mayMixTags,
    },
  )
}

/** The arguments of one call, because Redis serves nothing else while a script runs. A part is never divided. */
const CALL = { count: 1_500, bytes: 256 * 1_024 }

/** Divides parts among few calls, in their order. @param mayMixTags false: a call has the keys of one hash tag */
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
