import { CallState, Status } from '@switchhook/client'
import type { Agent, Leg } from '../api/model.ts'

/** A row of the wallboard: an agent without calls, or one leg of an agent. */
export interface WallRow {
  readonly key: string
  readonly agent: Agent
  /** False for the second and later legs of an agent. */
  readonly isFirst: boolean
  readonly leg: Leg | null
  /** Why it stands out; null if it does not. */
  readonly concern: string | null
}

const RINGS_TOO_LONG_MS = 30_000
const HELD_TOO_LONG_MS = 120_000
const WRAP_UP_TOO_LONG_MS = 300_000

/** Made once: the rows of 2,000 agents are sorted every second. */
const names = new Intl.Collator(undefined, { numeric: true })

/** One row per leg; agents whose calls stand out come first, then agents in calls, then the others by name. */
export function wallRows(agents: readonly Agent[], nowMs: number): readonly WallRow[] {
  const byName = agents.toSorted((a, b) => names.compare(a.agentUri, b.agentUri))
  const rows = byName.map((agent): readonly WallRow[] => {
    const legs = agent.calls.length === 0 ? [null] : agent.calls
    return legs.map((leg, index) => ({
      key: `${agent.agentUri} ${leg?.callId ?? ''}`,
      agent,
      isFirst: index === 0,
      leg,
      concern: leg === null ? concernOfAgent(agent, nowMs) : concernOfLeg(leg, nowMs),
    }))
  })
  return rows.toSorted((a, b) => rank(a) - rank(b)).flat()
}

const rank = (rows: readonly WallRow[]): number =>
  rows.some(({ concern }) => concern !== null) ? 0 : rows.some(({ leg }) => leg !== null) ? 1 : 2

function concernOfLeg({ state, occurredAt }: Leg, nowMs: number): string | null {
  const ageMs = nowMs - Date.parse(occurredAt)
  if (state === CallState.alerting && ageMs > RINGS_TOO_LONG_MS) return 'rings for long'
  if (state === CallState.held && ageMs > HELD_TOO_LONG_MS) return 'held for long'
  return null
}

function concernOfAgent({ statusCode, since }: Agent, nowMs: number): string | null {
  const isLong = since !== null && nowMs - Date.parse(since) > WRAP_UP_TOO_LONG_MS
  return statusCode === Status.afterCallWork && isLong ? 'long after-call work' : null
}
