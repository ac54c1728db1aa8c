import type { Attempt, UnreachableReason } from '@switchhook/contracts'
import { ANSWER_TIMES, type Bounds, bucketOf, DELAYS, percentilesOf } from './histogram.ts'

/**
 * What is counted for one endpoint, or a whole tenant, in one minute or hour, by the name of the counter. Counters of
 * several cells are added name by name.
 *
 * name           counts
 * `.` letter     attempts with this outcome (`OUTCOMES`)
 * a letter       lower case: attempts whose answer took this long (`ANSWER_TIMES`, `a` is the first bucket);
 *                upper case: first attempts that began this long after the event (`DELAYS`)
 * `!`, `~`       deliveries that were parked, and that expired
 *
 * Names are as short as this because a cell is stored as text, `a12b3.a15`, in a Redis hash that is compact only while its
 * values have at most 64 bytes. Stored names keep their meaning for ever. A reader skips names that it does not know, so a
 * later version can add some.
 */
export type Counts = Map<string, number>

/** Statuses that are counted one by one. The others are counted by their class, because an endpoint can send hundreds. */
const OUTCOMES: Readonly<Record<UnreachableReason | 'delivered' | 'other', string>> & Readonly<Record<string, string>> =
  {
    delivered: '.a',
    timeout: '.b',
    dns: '.c',
    refused: '.d',
    tls: '.e',
    reset: '.f',
    network: '.g',
    malformed: '.h',
    blocked: '.i',
    'unusable-url': '.j',
    lapsed: '.L',
    proxy: '.M',
    '1xx': '.k',
    '3xx': '.l',
    '4xx': '.m',
    '5xx': '.n',
    other: '.o',
    '301': '.p',
    '302': '.q',
    '307': '.r',
    '308': '.s',
    '400': '.t',
    '401': '.u',
    '403': '.v',
    '404': '.w',
    '405': '.x',
    '408': '.y',
    '409': '.z',
    '410': '.A',
    '413': '.B',
    '415': '.C',
    '422': '.D',
    '425': '.E',
    '429': '.F',
    '500': '.G',
    '501': '.H',
    '502': '.I',
    '503': '.J',
    '504': '.K',
  }

/** Every code that `byOutcome` can have. */
export const OUTCOME_CODES: readonly string[] = Object.keys(OUTCOMES)

const CODES = new Map(Object.entries(OUTCOMES).map(([code, name]) => [name, code]))

const ENDS = { parked: '!', expired: '~' } as const

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const namesOf = (bounds: Bounds, letters: string): readonly string[] =>
  Array.from({ length: bounds.length + 1 }, (_, bucket) => letters.charAt(bucket))
const ANSWER_NAMES = namesOf(ANSWER_TIMES, LETTERS)
const DELAY_NAMES = namesOf(DELAYS, LETTERS.toUpperCase())

const add = (counts: Counts, name: string, count = 1): void => void counts.set(name, (counts.get(name) ?? 0) + count)

/** @param delayMs from the event to the start of this attempt; null unless it is the first one */
export function countAttempt(
  counts: Counts,
  { outcome, status, durationMs }: Pick<Attempt, 'outcome' | 'status' | 'durationMs'>,
  delayMs: number | null,
): void {
  add(counts, nameOf(outcome, status))
  // A timeout counts with its whole wait. Without it, an endpoint that hangs would seem to be quick.
  if (status !== null || outcome === 'timeout') add(counts, ANSWER_NAMES[bucketOf(ANSWER_TIMES, durationMs)] as string)
  if (delayMs !== null) add(counts, DELAY_NAMES[bucketOf(DELAYS, delayMs)] as string)
}

export const countEnd = (counts: Counts, end: keyof typeof ENDS): void => add(counts, ENDS[end])

function nameOf(outcome: Attempt['outcome'], status: number | null): string {
  if (outcome !== 'answered') return OUTCOMES[outcome]
  return OUTCOMES[String(status)] ?? OUTCOMES[`${Math.floor((status ?? 0) / 100)}xx`] ?? OUTCOMES.other
}

export function addCounts(to: Counts, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) add(to, name, count)
}

/** The stored form: `a12b3.a15`. lua/statistics/add-counts.lua reads and writes the same. */
export const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${name}${count}`).join('')

/** Adds a stored cell. Only this package writes cells, so the text is not validated. */
export function addStored(to: Counts, stored: string): void {
  for (const [, name = '', count] of stored.matchAll(/(\D+)(\d+)/g)) add(to, name, Number(count))
}

export type Figures = ReturnType<typeof figuresOf>

export function figuresOf(counts: ReadonlyMap<string, number>) {
  const outcomes = [...counts].flatMap(([name, count]) => {
    const code = CODES.get(name)
    return code === undefined ? [] : [[code, count] as const]
  })
  const of = (names: readonly string[]): number[] => names.map((name) => counts.get(name) ?? 0)
  return {
    /** POSTs made. */
    attempts: outcomes.reduce((sum, [, count]) => sum + count, 0),
    /** Attempts that were answered with a 2xx. */
    acknowledged: counts.get(OUTCOMES.delivered) ?? 0,
    /** Attempts by outcome, without zeros. */
    byOutcome: Object.fromEntries(outcomes),
    parked: counts.get(ENDS.parked) ?? 0,
    expired: counts.get(ENDS.expired) ?? 0,
    /** Of attempts that were answered or timed out. Null: there were none. */
    answerMs: percentilesOf(ANSWER_TIMES, of(ANSWER_NAMES)),
    /** From the event to the first POST of a delivery. Null: there was none. */
    delayMs: percentilesOf(DELAYS, of(DELAY_NAMES)),
  }
}
