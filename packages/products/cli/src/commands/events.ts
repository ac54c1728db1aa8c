import type { Schemas, StreamMessage } from '@switchhook/client'
import { command, type Group, given } from '../command.ts'
import { momentOf } from '../output/read-time.ts'
import { describeMessage } from './describe-message.ts'

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
