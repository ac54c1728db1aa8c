import type { Schemas } from '@switchhook/client'
import { usage } from './failure.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const DURATION = /^(\d+)([smhd])$/

/** `90s`, `10m`, `2h` or `1d` in ms. @throws CliError for another form */
export function durationMs(text: string): number {
  const [, amount, unit = ''] = DURATION.exec(text) ?? []
  if (amount === undefined) throw usage(`"${text}" is not a duration: write it like 90s, 10m, 2h or 1d.`)
  return Number(amount) * (UNITS[unit] ?? 0)
}

/** Of itself, JavaScript also reads `2`, as 1 February 2001, and `2026-02-30`, as 2 March. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/
const isDay = (day: string): boolean => {
  const at = new Date(day)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}

/** A moment: ISO 8601, or a duration from now. @param sign -1: the duration is in the past */
export function momentOf(text: string, sign: 1 | -1, nowMs: number): string {
  const [, day = ''] = ISO_TIME.exec(text) ?? []
  const atMs = DURATION.test(text) ? nowMs + sign * durationMs(text) : isDay(day) ? Date.parse(text) : Number.NaN
  const at = new Date(atMs)
  if (Number.isNaN(at.getTime())) throw usage(`"${text}" is no time: write it like 10m, or 2026-11-23T15:00:00Z.`)
  return at.toISOString()
}

/** @throws CliError unless the text is a whole number above 0 */
export function countOf(text: string, option: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw usage(`${option} must be a whole number above 0, not "${text}".`)
  return Number(text)
}

const DEFAULT_LIMIT = 50

export const LIMIT = ['--limit <count>', `at most so many (default ${DEFAULT_LIMIT})`] as const

export const limitOf = ({ limit }: { readonly limit?: string }): number =>
  limit === undefined ? DEFAULT_LIMIT : countOf(limit, '--limit')

/** The first items of a list, over its pages. */
export async function take<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length === most) break
  }
  return taken
}

/** The types of a list with commas. The API names those that exist if one is misspelt. */
export const typesIn = (text: string): Schemas['SubscribedType'][] =>
  text.split(',').map((type) => type.trim()) as Schemas['SubscribedType'][]
