import { CallState, DeviceStatus } from '@switchhook/client'
import { useQuery } from '@tanstack/react-query'
import { client } from '../api/client.ts'
import type { Agent, Leg } from '../api/model.ts'
import { agentsQuery, callsQuery } from '../api/queries.ts'
import { agentName, callState, stopwatch } from '../rules/words.ts'
import { RoleButton, useAction } from '../ui/action.tsx'
import { Choice, Input, textIn } from '../ui/fields.tsx'
import { Empty, Failure, Panel, QueryState, Screen, useNow } from '../ui/parts.tsx'
import { type Column, Table, useList } from '../ui/table.tsx'

export function Simulator() {
  const query = useQuery(agentsQuery)
  const agents = query.data?.items ?? []
  return (
    <Screen
      title="Simulator"
      lead="The contact center is simulated: let customers call, and see what your endpoints receive."
    >
      <QueryState query={query} />
      {agents.length > 0 && <Ring agents={agents} />}
      <Calls />
      <Panel title="Devices">
        <Table
          label="Devices of the agents"
          columns={DEVICE_COLUMNS}
          rows={agents}
          keyOf={({ agentUri }) => agentUri}
        />
      </Panel>
    </Screen>
  )
}

function Ring({ agents }: { readonly agents: readonly Agent[] }) {
  const ring = useAction({
    run: (form: FormData) => client.simulator.call({ agentUri: textIn(form, 'agent'), from: textIn(form, 'from') }),
    done: (_result, form) => `${agentName(textIn(form, 'agent'))} rings.`,
    showsErrors: true,
  })
  return (
    <Panel title="A customer calls">
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          ring.mutate(new FormData(event.currentTarget))
        }}
      >
        <Input label="From" name="from" required defaultValue="+15559000" />
        <Choice label="Agent" name="agent" options={agents.map(({ agentUri }) => [agentUri, agentUri])} />
        <RoleButton kind="primary" needs="operator" isBusy={ring.isPending}>
          Ring
        </RoleButton>
      </form>
      {ring.error && <Failure error={ring.error} />}
    </Panel>
  )
}

function Calls() {
  const { query, rows: legs, more } = useList(callsQuery({ live: 'true' }))
  const nowMs = useNow(1_000)
  return (
    <Panel title="Calls now">
      {query.error && <Failure error={query.error} />}
      {query.data && legs.length === 0 && <Empty title="There is no call." />}
      <Table
        label="Calls now"
        columns={callColumns(nowMs)}
        rows={legs}
        keyOf={({ callId, agentUri }) => `${callId} ${agentUri}`}
        more={more}
      />
    </Panel>
  )
}

const callColumns = (nowMs: number): readonly Column<Leg>[] => [
  { title: 'Agent', isWide: true, cell: ({ agentUri }) => agentName(agentUri) },
  { title: 'With', cell: ({ remoteParty }) => remoteParty.number ?? remoteParty.uri ?? 'withheld' },
  { title: 'State', cell: ({ state }) => callState(state) },
  {
    title: 'Since',
    align: 'end',
    isOptional: true,
    cell: ({ occurredAt }) => stopwatch(nowMs - Date.parse(occurredAt)),
  },
  { title: 'The other side', cell: (leg) => <RemoteActions leg={leg} /> },
]

const REMOTE_ACTIONS = { answer: 'Answers', hold: 'Holds', resume: 'Resumes', hangup: 'Hangs up' } as const

type RemoteAction = keyof typeof REMOTE_ACTIONS

/** What the other side can do in a state of the agent's leg. The simulator rejects the rest. */
function remoteActionsOf({ state, remoteHeld }: Leg): readonly RemoteAction[] {
  if (state === CallState.initiated || state === CallState.proceeding) return ['answer', 'hangup']
  if (state === CallState.alerting) return ['hangup']
  return [remoteHeld ? 'resume' : 'hold', 'hangup']
}

function RemoteActions({ leg }: { readonly leg: Leg }) {
  const act = useAction({
    run: (action: RemoteAction) => client.simulator.remote(leg.callId, { action }),
    done: () => 'Done.',
  })
  return (
    <span className="row-buttons">
      {remoteActionsOf(leg).map((action) => (
        <RoleButton key={action} needs="operator" isBusy={act.isPending} onClick={() => act.mutate(action)}>
          {REMOTE_ACTIONS[action]}
        </RoleButton>
      ))}
    </span>
  )
}

const DEVICE_COLUMNS: readonly Column<Agent>[] = [
  { title: 'Agent', isWide: true, cell: ({ agentUri }) => agentUri },
  { title: 'Device', cell: ({ deviceStatusName }) => deviceStatusName },
  { title: 'Plug', cell: (agent) => <Plug agent={agent} /> },
]

function Plug({ agent }: { readonly agent: Agent }) {
  const isOnline = agent.deviceStatus !== DeviceStatus.unavailable
  const plug = useAction({
    run: (online: boolean) => client.simulator.device(agent.agentUri, { online }),
    done: (_result, online) => `The device of ${agentName(agent.agentUri)} is ${online ? 'online' : 'offline'}.`,
  })
  return (
    <span className="row-buttons">
      <RoleButton needs="operator" isBusy={plug.isPending} onClick={() => plug.mutate(!isOnline)}>
        {isOnline ? 'Unplug' : 'Plug in'}
      </RoleButton>
    </span>
  )
}
