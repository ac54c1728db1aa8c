import type { Explanation } from '../api/model.ts'
import type { Tone } from './tone.ts'
import { agentName, callState } from './words.ts'

type Data = Readonly<Record<string, unknown>>

/** What an event reports: `connected`, `status 50`. Empty for other events. */
export function eventState(data: Data): string {
  if (typeof data['state'] === 'number') return callState(data['state'])
  return typeof data['statusCode'] === 'number' ? `status ${data['statusCode']}` : ''
}

/** Who and what, from the data of a call or agent event: `alice connected, +15550147`. */
export function eventPhrase(data: Data): string {
  const agent = typeof data['agentUri'] === 'string' ? agentName(data['agentUri']) : ''
  const remote = data['remoteParty'] as { readonly number?: string | null; readonly uri?: string | null } | undefined
  const other = remote?.number ?? remote?.uri
  const phrase = `${agent} ${eventState(data)}`.trim()
  return other == null || phrase === '' ? phrase : `${phrase}, ${other}`
}

/** How far an event got, over all endpoints that it was for. */
export function progressOf(explanations: readonly Pick<Explanation, 'verdict'>[]): {
  readonly tone: Tone
  readonly text: string
} {
  const count = (...verdicts: readonly Explanation['verdict'][]): number =>
    explanations.filter(({ verdict }) => verdicts.includes(verdict)).length
  const delivered = count('delivered')
  const late = count('pending', 'waiting', 'held', 'cooling-down')
  const parked = count('parked', 'withdrawn')
  const total = delivered + late + parked
  if (total === 0) return { tone: 'quiet', text: 'for no endpoint' }
  const tone = parked > 0 ? 'bad' : late > 0 ? 'warn' : 'good'
  if (delivered === total) return { tone, text: total === 1 ? 'delivered' : `all ${total} delivered` }
  const parts = [
    parked > 0 && `${parked} parked`,
    late > 0 && `${late} waiting`,
    delivered > 0 && `${delivered} delivered`,
  ].filter(Boolean)
  return { tone, text: total === 1 ? (parked === 1 ? 'parked' : 'waiting') : parts.join(', ') }
}
