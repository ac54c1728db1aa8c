import type { Schemas } from '@switchhook/client'
import { command, type Group, given } from '../command.ts'
import { usage } from '../failure.ts'
import { LIMIT, limitOf, momentOf, take } from '../options.ts'
import { callState, deviceStatus, moment } from '../output/words.ts'

const list = command({
  name: 'list',
  summary: 'list agents with their status and calls',
  options: [LIMIT],
  run: async ({ client, out }, _args, options) =>
    out.list(await take(client.agents.list(), limitOf(options)), [
      { title: 'AGENT', of: ({ agentUri }) => agentUri },
      { title: 'STATUS', of: ({ statusName }) => statusName },
      { title: 'SINCE', of: ({ since }) => moment(since) },
      { title: 'DEVICE', of: (agent) => deviceStatus(agent.deviceStatus) },
      { title: 'CALLS', of: (agent) => agent.calls.map(({ state }) => callState(state)).join(', ') },
    ]),
})

const presence = command({
  name: 'presence',
  summary: "read an agent's status, or set it",
  args: [
    ['<agent>', 'the URI of the agent'],
    ['[status]', 'the code of the new status, such as 66'],
  ],
  options: [
    ['--until <time>', 'when it ends: 30m, or an ISO 8601 time'],
    ['--message <text>', 'a text for colleagues'],
    ['--location <text>', 'where the agent is'],
  ],
  run: async ({ client, out }, [agentUri = '', statusCode], { until, message, location }) => {
    const end = until === undefined ? undefined : momentOf(until, 1, Date.now())
    const more = given<Schemas['PresenceSetting']>({ statusCode, until: end, message, location })
    if (statusCode === undefined && Object.keys(more).length > 0) {
      throw usage('The status is missing: switchhook agents presence <agent> <status>.')
    }
    const agent =
      statusCode === undefined
        ? await client.agents.state(agentUri)
        : await client.agents.setPresence(agentUri, { statusCode, ...more })
    out.record(agent, {
      agent: agent.agentUri,
      status: `${agent.statusCode} ${agent.statusName}`,
      since: moment(agent.since),
      until: moment(agent.until),
      pending: agent.pendingStatusCode,
      message: agent.message,
      location: agent.location,
      device: agent.deviceStatusName,
    })
  },
})

export const agents: Group = {
  name: 'agents',
  summary: 'list agents, read and set their status',
  commands: [list, presence],
}
