import { escapeToken, type Fault } from '@switchhook/contracts'

/** Nothing else can hold a value that is not exact: a half of a surrogate pair, a long number, an exponent. */
const MAY_BE_INEXACT = /\\u[dD]|\d{16}|\d[eE]/

/** Of one answer. A hostile body can have thousands, whose pointers together are thousands of times as long as the body. */
export const MAX_FAULTS = 50

/**
 * The values of a JSON text that would be stored and sent otherwise than they were written: numbers that a double cannot
 * hold, and texts with half of a surrogate pair, which strict parsers and stores refuse.
 * @param text the source of the value, which tells at little cost that there is none
 * @param described the fields of the body that count: the others are ignored, or refused as unknown
 */
export function inexactValues(parsed: unknown, text: string, described: readonly string[]): readonly Fault[] {
  if (!MAY_BE_INEXACT.test(text)) return []
  const value = MAY_BE_TOO_SMALL.test(text) ? withoutUnderflow(parsed, text) : parsed
  const faults: Fault[] = []
  // Not recursive, because a body may be as deep as it is long.
  const left: [value: unknown, pointer: string][] = [[value, '']]
  for (let next = left.pop(); next !== undefined && faults.length < MAX_FAULTS; next = left.pop()) {
    const [found, pointer] = next
    if (typeof found === 'number' && !isExact(found))
      faults.push({ pointer, detail: Number.isNaN(found) ? TOO_SMALL : TOO_LARGE })
    else if (typeof found === 'string' && HALF_PAIR.test(found)) faults.push({ pointer, detail: NOT_UNICODE })
    else if (typeof found === 'object' && found !== null) {
      for (const [name, member] of Object.entries(found)) {
        if (found === value && !described.includes(name)) continue
        if (faults.length === MAX_FAULTS) break
        if (HALF_PAIR.test(name)) faults.push({ pointer, detail: `has a field whose name ${NOT_UNICODE}` })
        else left.push([member, `${pointer}/${escapeToken(name)}`])
      }
    }
  }
  return faults
}

/** 1e-324 is the largest power of ten that a double holds as 0. */
const MAY_BE_TOO_SMALL = /\de-\d{3}|0{300}/i

/** A reviver: NaN for a number that a double holds as 0 although it is not. */
const nanForUnderflow = (_name: string, found: unknown, { source = '' }: { readonly source?: string } = {}): unknown =>
  found === 0 && /[1-9]/.test(source.replace(/e.*/i, '')) ? Number.NaN : found

function withoutUnderflow(value: unknown, text: string): unknown {
  try {
    return JSON.parse(text, nanForUnderflow)
  } catch {
    // Too deep for a reviver, and so for every schema.
    return value
  }
}

/** In Unicode mode, a whole pair is one character of another category. */
const HALF_PAIR = /\p{Cs}/u

/** Larger integers are those of their neighbours, too. */
const isExact = (number: number): boolean =>
  Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))

const TOO_LARGE = `must be a number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}; a larger one would be changed`
const TOO_SMALL = 'must be a number that is not rounded to 0'
const NOT_UNICODE = 'must not contain half of a surrogate pair (\\ud800 to \\udfff)'
