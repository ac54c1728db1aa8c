import type { Schemas } from '@switchhook/client'
import { command, type Group, given } from '../command.ts'

const test = command({
  name: 'test',
  summary: 'send a test delivery to a subscription',
  args: [
    ['<subscription>', 'the id of the subscription'],
    ['[type]', 'the event type of the example'],
  ],
  run: async ({ client, out }, [id = '', eventType]) => {
    const sent = await client.subscriptions.test(id, given<Schemas['Trial']>({ eventType: eventType as never }))
    out.record(sent, { delivery: sent.deliveryId, event: sent.eventId, type: sent.eventType })
    out.note(`See the result: switchhook explain ${sent.deliveryId}`)
  },
})

const call = command({
  name: 'call',
  summary: 'ring an agent from outside (simulated contact center only)',
  options: [
    ['--to <uri>', 'the agent (default sip:alice@acme.example)'],
    ['--from <number>', 'the caller (default +15559000)'],
  ],
  run: async ({ client, out }, _args, { to = 'sip:alice@acme.example', from = '+15559000' }) => {
    const ringing = await client.simulator.call({ agentUri: to, from })
    out.record(ringing, { call: ringing.callId, agent: ringing.agentUri, from: ringing.from })
    out.note(`Answer it: switchhook calls answer ${ringing.callId}`)
  },
})

export const trigger: Group = {
  name: 'trigger',
  summary: 'send a test delivery or start a call',
  commands: [test, call],
}
