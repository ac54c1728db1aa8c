type Argument = string | number | Buffer

/** A use of a script whose keys have one hash tag. Several uses can share a call. */
export interface ScriptPart {
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

/** Of one call, because Redis serves nothing else while a script runs. A part is never divided. */
const MAX_ARGS = 1_500
const MAX_BYTES = 256 * 1_024

/**
 * Divides parts among as few calls as possible, in their order.
 * @param mayMixTags false: a call has the keys of one hash tag, as a cluster requires
 */
export function callsOf(parts: readonly ScriptPart[], mayMixTags: boolean): (readonly ScriptPart[])[] {
  const groups = mayMixTags ? [parts] : [...Map.groupBy(parts, ({ keys: [key = ''] }) => tagOf(key)).values()]
  return groups.flatMap((group) => [...inCalls(group)])
}

function* inCalls(parts: readonly ScriptPart[]): Generator<readonly ScriptPart[]> {
  let call: ScriptPart[] = []
  let [args, bytes] = [0, 0]
  for (const part of parts) {
    const more = part.args.reduce<number>((sum, arg) => sum + (typeof arg === 'number' ? 8 : arg.length), 0)
    if (call.length > 0 && (args + part.args.length > MAX_ARGS || bytes + more > MAX_BYTES)) {
      yield call
      ;[call, args, bytes] = [[], 0, 0]
    }
    call.push(part)
    args += part.args.length
    bytes += more
  }
  if (call.length > 0) yield call
}

/** The part of a key in braces decides on which node of a cluster it is. */
const tagOf = (key: string): string => key.slice(key.indexOf('{') + 1, key.indexOf('}'))
