import type { KnownEvent, Schemas, StreamMessage } from '@switchhook/client'
import { command, type Group, given } from '../command.ts'
import { momentOf } from '../options.ts'
import { type Style, withoutControls } from '../output/output.ts'
import { callState, clock, deviceStatus, endReason, outcome, toneOf } from '../output/words.ts'

type StreamQuery = Schemas['StreamEventsQuery']

const tail = command({
  name: 'tail',
  summary: 'follow events and delivery attempts as they happen, until Ctrl+C',
  options: [
    ['--call <id>', 'only of this call'],
    ['--agent <uri>', 'only of this agent'],
    ['--subscription <id>', 'only events for this subscription'],
    ['--type <type>', 'only this event type'],
    ['--since <time>', 'begin earlier: 10m, or an ISO 8601 time'],
  ],
  run: async ({ client, out }, _args, { call, agent, subscription, type, since }) => {
    const filter = given<StreamQuery>({
      callId: call,
      agentUri: agent,
      subscriptionId: subscription,
      eventType: type as StreamQuery['eventType'],
    })
    const onState = (state: 'live' | 'away'): void =>
      out.note(state === 'live' ? 'Following events. Stop with Ctrl+C.' : 'The connection is lost; trying again.')
    const begin = since === undefined ? {} : { since: momentOf(since, -1, Date.now()) }
    for await (const message of client.events.stream(filter, { onState, ...begin })) {
      if (message.type === 'gap' && !out.isJson) out.note(gapNote(message))
      else out.stream(message, () => describeMessage(message, out.style))
    }
  },
})

const gapNote = ({ eventsLost }: Extract<StreamMessage, { type: 'gap' }>): string =>
  eventsLost
    ? 'Events and attempts are missing here: switchhook deliveries list shows what was delivered.'
    : 'Attempts are missing here; all events are shown.'

export const events: Group = { name: 'events', summary: 'follow events', commands: [tail] }

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
