import type { Client, Schemas } from '@switchhook/client'
import { type Command, type Context, command, type Group, given } from '../command.ts'
import { usage } from '../failure.ts'
import { LIMIT, limitOf, take } from '../options.ts'
import { callState, direction, endReason, moment } from '../output/words.ts'

const list = command({
  name: 'list',
  summary: 'list calls, the live ones first',
  options: [['--live', 'only live calls'], ['--agent <uri>', 'only calls of this agent'], LIMIT],
  run: async ({ client, out }, _args, options) => {
    const query = given<Schemas['ListCallsQuery']>({ live: options.live, agentUri: options.agent })
    out.list(await take(client.calls.list(query), limitOf(options)), [
      { title: 'CALL', of: ({ callId }) => callId },
      { title: 'AGENT', of: ({ agentUri }) => agentUri },
      { title: 'STATE', of: ({ state }) => callState(state) },
      { title: 'DIRECTION', of: (leg) => direction(leg.direction) },
      { title: 'OTHER PARTY', of: ({ remoteParty }) => remoteParty.number ?? remoteParty.uri ?? 'withheld' },
      { title: 'STARTED', of: ({ startedAt }) => moment(startedAt) },
      { title: 'END', of: (leg) => (leg.endReason === 0 ? '' : endReason(leg.endReason)) },
    ])
  },
})

const dial = command({
  name: 'dial',
  summary: 'start a call from an agent',
  args: [
    ['<agent>', 'the URI of the agent, such as sip:alice@acme.example'],
    ['<destination>', 'a phone number, an extension or the URI of another agent'],
  ],
  options: [
    ['--cli <number>', 'the number that the other party sees'],
    ['--correlation-id <id>', 'your own id, repeated in the events of the call'],
  ],
  run: async ({ client, out }, [agentUri = '', destination = ''], options) =>
    accepted(out, await client.calls.dial({ agentUri, destination, ...options })),
})

type Verb = 'answer' | 'hold' | 'resume' | 'hangup'

const CALL = ['<call>', 'the id of the call'] as const
const AGENT = ['--agent <uri>', 'the agent, if several take part'] as const

const onCall = (name: Verb, summary: string): Command =>
  command({
    name,
    summary,
    args: [CALL],
    options: [AGENT],
    run: async ({ client, out }, [callId = ''], { agent }) =>
      accepted(out, await client.calls[name](callId, { agentUri: agent ?? (await agentIn(client, callId, name)) })),
  })

const transfer = command({
  name: 'transfer',
  summary: 'transfer a call, attended unless --blind',
  args: [CALL, ['<target>', 'an agent, an extension or a number']],
  options: [['--blind', 'without a consultation call'], AGENT],
  run: async ({ client, out }, [callId = '', transferTarget = ''], options) => {
    const agentUri = options.agent ?? (await agentIn(client, callId, 'transfer'))
    accepted(out, await client.calls.transfer(callId, { agentUri, transferTarget, blind: options.blind === true }))
  },
})

/** The agent whose leg allows the command. Without one, the API says why with the only agent there is. */
async function agentIn(client: Client, callId: string, verb: Verb | 'transfer'): Promise<string> {
  const { legs } = await client.calls.read(callId)
  const able = legs.filter(({ allowedCommands }) => allowedCommands.includes(verb))
  const candidates = able.length > 0 ? able : legs
  const [leg, second] = candidates
  if (leg === undefined) throw usage('The contact center has not reported this call yet: name the agent with --agent.')
  if (second === undefined) return leg.agentUri
  throw usage(`Name the agent with --agent: ${candidates.map((one) => one.agentUri).join(' or ')}.`)
}

function accepted(out: Context['out'], answer: Schemas['CommandAccepted'] & { consultationCallId?: string }): void {
  const { callId: call, agentUri: agent, command, consultationCallId: consultation } = answer
  out.record(answer, { call, agent, command, consultation })
  out.note(
    answer.noop
      ? 'The call is already in this state.'
      : `Accepted. Its events show the result: switchhook events tail --call ${call} --since 1m`,
  )
}

export const calls: Group = {
  name: 'calls',
  summary: 'list and control calls',
  commands: [
    list,
    dial,
    onCall('answer', 'answer a ringing call'),
    onCall('hold', 'hold a call'),
    onCall('resume', 'resume a held call'),
    transfer,
    onCall('hangup', 'hang up'),
  ],
}
