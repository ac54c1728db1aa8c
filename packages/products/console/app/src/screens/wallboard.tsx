import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../api/client.ts'
import type { CallCommand, Leg } from '../api/model.ts'
import { agentsQuery } from '../api/queries.ts'
import { type WallRow, wallRows } from '../rules/wallboard.ts'
import { agentName, callDirection, callState, counted, stopwatch } from '../rules/words.ts'
import { useFilters } from '../search-params.ts'
import { RoleButton, useAction } from '../ui/action.tsx'
import { CommandDialog } from '../ui/dialog.tsx'
import { Input, textIn } from '../ui/fields.tsx'
import { ChoiceFilter, TextFilter } from '../ui/filters.tsx'
import { Empty, QueryState, Screen, Status, useNow } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'

const SHOWN = [
  ['', 'All agents'],
  ['calls', 'In a call'],
  ['concern', 'Needs attention'],
] as const

export function Wallboard() {
  const [{ q = '', show = 'all' }] = useFilters()
  const query = useQuery(agentsQuery)
  const { items: agents = [], isComplete = true } = query.data ?? {}
  const nowMs = useNow(1_000)
  const rows = wallRows(
    agents.filter(({ agentUri }) => agentUri.toLowerCase().includes(q.toLowerCase())),
    nowMs,
  ).filter(({ leg, concern }) => show === 'all' || (show === 'calls' ? leg !== null : concern !== null))
  const inCalls = agents.filter(({ calls }) => calls.length > 0).length
  return (
    <Screen
      title="Agents"
      lead={
        query.data &&
        `${isComplete ? '' : `Of the first ${counted(agents.length, 'agent')} by name: `}${counted(inCalls, 'agent')} in a call.`
      }
    >
      <div className="filters">
        <TextFilter name="q" label="Agent" />
        <ChoiceFilter name="show" label="Show" options={SHOWN} />
      </div>
      <QueryState query={query} />
      {query.data && rows.length === 0 && (
        <Empty title={agents.length === 0 ? 'There are no agents.' : 'No agent matches the filters.'} />
      )}
      {rows.length > 0 && (
        <Table label="Agents and calls" columns={columnsAt(nowMs)} rows={rows} keyOf={({ key }) => key} />
      )}
    </Screen>
  )
}

const since = (iso: string | null, nowMs: number) => iso && stopwatch(nowMs - Date.parse(iso))

const columnsAt = (nowMs: number): readonly Column<WallRow>[] => [
  {
    title: 'Agent',
    isWide: true,
    cell: ({ agent, isFirst }) =>
      isFirst ? (
        <Link to="/events" search={{ q: agent.agentUri }} className="row-link" title={agent.agentUri}>
          {agentName(agent.agentUri)}
        </Link>
      ) : (
        <span className="visually-hidden">{agentName(agent.agentUri)}</span>
      ),
  },
  {
    title: 'Status',
    cell: ({ agent, isFirst }) =>
      isFirst && (
        <Status tone={agent.statusCode === 2 ? 'good' : agent.loggedOn ? 'warn' : 'quiet'}>{agent.statusName}</Status>
      ),
  },
  { title: 'For', align: 'end', isOptional: true, cell: ({ agent, isFirst }) => isFirst && since(agent.since, nowMs) },
  {
    title: 'Call',
    cell: ({ leg, concern }) => (
      <>
        {leg === null ? '' : callState(leg.state)}
        {concern !== null && <span className="tag bad">{concern}</span>}
      </>
    ),
  },
  {
    title: 'With',
    cell: ({ leg }) =>
      leg !== null && (
        <span title={callDirection(leg.direction)}>
          {leg.direction === 2 ? '→ ' : '← '}
          {leg.remoteParty.number ?? leg.remoteParty.uri ?? 'withheld'}
        </span>
      ),
  },
  { title: 'Since', align: 'end', isOptional: true, cell: ({ leg }) => leg !== null && since(leg.occurredAt, nowMs) },
  { title: 'Commands', isOptional: true, cell: ({ leg }) => leg !== null && <Commands leg={leg} /> },
]

const LABELS = { answer: 'Answer', hold: 'Hold', resume: 'Resume', transfer: 'Transfer', hangup: 'Hang up' } as const

type Asked = 'hangup' | 'transfer'

function Commands({ leg }: { readonly leg: Leg }) {
  const [asking, setAsking] = useState<Asked | null>(null)
  const close = (): void => setAsking(null)
  const command = useAction({
    run: (command: Exclude<CallCommand, Asked>) => client.calls[command](leg.callId, { agentUri: leg.agentUri }),
    done: (_result, command) => `${LABELS[command]}: accepted.`,
  })
  return (
    <span className="row-buttons">
      {leg.allowedCommands
        .filter((name) => name !== 'dial')
        .map((name) => (
          <RoleButton
            key={name}
            needs="operator"
            isBusy={command.isPending}
            onClick={() => (name === 'hangup' || name === 'transfer' ? setAsking(name) : command.mutate(name))}
          >
            {LABELS[name]}
          </RoleButton>
        ))}
      {asking === 'hangup' && (
        <CommandDialog
          title="Hang up?"
          submitLabel="Hang up"
          kind="danger"
          onClose={close}
          run={() => client.calls.hangup(leg.callId, { agentUri: leg.agentUri })}
          done={() => 'Hang up: accepted.'}
        >
          <p>
            This ends the call of {agentName(leg.agentUri)} with{' '}
            {leg.remoteParty.number ?? leg.remoteParty.uri ?? 'a withheld number'}.
          </p>
        </CommandDialog>
      )}
      {asking === 'transfer' && <TransferDialog leg={leg} onClose={close} />}
    </span>
  )
}

function TransferDialog({ leg, onClose }: { readonly leg: Leg; readonly onClose: () => void }) {
  const transfer = (form: FormData) =>
    client.calls.transfer(leg.callId, {
      agentUri: leg.agentUri,
      transferTarget: textIn(form, 'target'),
      blind: form.get('blind') !== null,
    })
  return (
    <CommandDialog
      title="Transfer the call"
      submitLabel="Transfer"
      onClose={onClose}
      run={transfer}
      done={() => 'Transfer: accepted.'}
    >
      <Input label="To" hint="An agent's URI, an extension or a phone number." name="target" required />
      <label className="check">
        <input type="checkbox" name="blind" defaultChecked />
        <span>Blind: without talking to the target first</span>
      </label>
    </CommandDialog>
  )
}
