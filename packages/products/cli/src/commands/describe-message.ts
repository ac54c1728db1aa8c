import type { KnownEvent, StreamMessage } from '@switchhook/client'
import type { Style } from '../output/style.ts'
import { withoutControls } from '../output/table.ts'
import { callState, clock, deviceStatus, endReason, outcome, toneOf } from '../output/words.ts'

/** A line for a person about a message of the live stream. */
export function describeMessage(message: StreamMessage, style: Style): string {
  if (message.type === 'gap') return style('warn', `gap up to ${message.resumedAt}`)
  if (message.type === 'attempt') {
    const { at, eventType, deliveryId, attempt, durationMs, state } = message.attempt
    const result = style(toneOf(message.attempt.outcome) ?? 'bad', outcome(message.attempt))
    const then = style(toneOf(state) ?? 'dim', state)
    return `${style('dim', clock(at))}  ${eventType}  attempt ${attempt}: ${result} in ${durationMs} ms, ${then}  ${style('dim', deliveryId)}`
  }
  const { occurredAt, eventType, eventId, subscriptionCount } = message.event
  const what = message.type === 'event' ? withoutControls(summaryOf(message.event)) : ''
  const to = `to ${subscriptionCount} ${subscriptionCount === 1 ? 'endpoint' : 'endpoints'}`
  return `${style('dim', clock(occurredAt))}  ${style('bold', eventType)}  ${what}  ${style('dim', `${to}  ${eventId}`)}`
}

function summaryOf({ eventType, data }: KnownEvent): string {
  if (data === null) return ''
  if (eventType === 'call.status') {
    const { state, endReason: reason, agentUri, remoteParty, callId } = data
    const end = reason === 0 ? '' : ` (${endReason(reason)})`
    return `${callState(state)}${end}  ${agentUri} ↔ ${remoteParty.number ?? remoteParty.uri ?? 'withheld'}  call ${callId}`
  }
  if (eventType === 'agent.status') {
    return `${data.agentUri}  status ${data.statusCode}, device ${deviceStatus(data.deviceStatus)}`
  }
  return 'url' in data && typeof data.url === 'string' ? data.url : ''
}
