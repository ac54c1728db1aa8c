import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { Party } from '@switchhook/platform'
import fc from 'fast-check'
import { beginArrival, beginDial } from '../begin.ts'
import type { Input } from '../input.ts'
import { isLive, type PbxSession } from '../session.ts'
import type { Stepped } from '../step.ts'

// What can happen to a session, in any order.

export const ALICE = 'sip:alice@acme.example'
export const BOB = 'sip:bob@acme.example'
export const CAROL = 'sip:carol@acme.example'
export const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: 'PJSIP/x' })
export const outside: Party = { kind: 'outside', address: '+15550100' }

/** Becomes an input for the session's present state: indices choose among its calls, legs and channels. */
export interface Wish {
  readonly what: number
  readonly which: number
  readonly cause: number
  readonly isAttended: boolean
  readonly target: Party
}

export const wish: fc.Arbitrary<Wish> = fc.record({
  what: fc.nat({ max: 20 }),
  which: fc.nat({ max: 7 }),
  cause: fc.constantFrom(0, 1, 16, 17, 19, 20, 21, 26, 34, 127),
  isAttended: fc.boolean(),
  target: fc.constantFrom<Party>(agent(BOB), agent(CAROL), agent(ALICE), outside),
})

export const HOWS = ['talk', 'again', 'connected'] as const

export function inputOf(session: PbxSession, { what, which, cause, isAttended, target }: Wish): Input | undefined {
  const live = session.channels.filter(isLive)
  const channelId = live[which % Math.max(live.length, 1)]?.id
  const legs = session.group.legs.filter(({ state }) => state !== CallState.ended)
  const leg = legs[which % Math.max(legs.length, 1)]
  const base = leg && { callId: leg.callId, agentUri: leg.agentUri, commandId: newCommandId() }
  const ofChannel: Input[] =
    channelId === undefined
      ? []
      : [
          { kind: 'ringing', channelId },
          { kind: 'ready', channelId, isUp: isAttended },
          { kind: 'up', channelId },
          { kind: 'gone', channelId, cause, sipCode: null },
          { kind: 'phone-holds', channelId },
          { kind: 'phone-resumes', channelId },
          { kind: 'end-asked', channelId, by: isAttended ? 'party' : 'shutdown' },
          { kind: 'refused', channelId },
          { kind: 'phone-transfers', channelId, target: { ...target, asked: 'x', refusal: null } },
          ...ofLine(session, channelId),
        ]
  const ofLeg: Input[] =
    base === undefined
      ? []
      : [
          { ...base, kind: 'hangup' },
          { ...base, kind: 'hold' },
          { ...base, kind: 'resume', how: isAttended ? 'talk' : 'connected', isInVain: false },
          { ...base, kind: 'answer', how: HOWS[cause % HOWS.length] ?? null, isInVain: false },
          { ...base, kind: 'completeTransfer' },
          {
            ...base,
            kind: 'transfer',
            correlationId: null,
            consultationCallId: isAttended ? newCallId() : null,
            target: { ...target, asked: 'x', refusal: cause === 1 ? 'badAddress' : null },
          },
          { kind: 'device-gone', agentUri: base.agentUri },
        ]
  const all: Input[] = [...ofChannel, ...ofLeg, { kind: 'listed', channels: [], hasRestarted: isAttended }]
  return all[what % all.length]
}

/** An agent's channel that was asked for is the open line instead. */
function ofLine({ channels }: PbxSession, channelId: string): Input[] {
  const channel = channels.find(({ id }) => id === channelId)
  if (channel?.origin === 'lent') {
    return [
      { kind: 'line-overdue', lineId: channelId },
      { kind: 'line-returned', lineId: channelId },
    ]
  }
  const isAgents = channel?.line.startsWith('sip:') === true
  if (!isAgents || channel.origin !== 'placed' || channel.state !== 'asked') return []
  return [{ kind: 'line-lent', channelId, lineId: `line of ${channel.line}`, isHeldAtPhone: false, ringMs: 30_000 }]
}

export const START_MS = Date.UTC(2026, 0, 1)

const begun = () => ({ tenant: 'acme', callId: newCallId(), refusal: null })
const dialled = () => ({ ...begun(), caller: agent(ALICE), cli: null, correlationId: null })

export const beginnings: readonly (() => Stepped)[] = [
  () => beginDial({ ...dialled(), called: outside, commandId: newCommandId(), channelId: null }, START_MS),
  () => beginDial({ ...dialled(), called: agent(BOB), commandId: null, channelId: 'phone-1' }, START_MS),
  () => beginArrival({ ...begun(), channelId: 'trunk-1', from: '+15559000', called: agent(ALICE) }, START_MS),
]
