import type { Subscription } from '../../api/model.ts'
import { auditQuery } from '../../api/queries.ts'
import { count, counted } from '../../rules/words.ts'
import { Empty, Facts, Panel, QueryState, Time, TimeAfter } from '../../ui/parts.tsx'
import { useList } from '../../ui/table.tsx'
import { AuditTable } from '../audit.tsx'
import { Warnings } from './filter-field.tsx'

const NONE = <span className="muted">none</span>
const UNLIMITED = <span className="muted">any number</span>

export function SettingsTab({ subscription }: { readonly subscription: Subscription }) {
  const { signing, parked, held } = subscription
  return (
    <>
      <Panel title="Settings">
        <Facts
          rows={[
            ['URL', <span className="url">{subscription.url ?? 'none: clients receive the deliveries'}</span>],
            ['Description', subscription.description ?? NONE],
            ['External id', subscription.externalId ?? NONE],
            ['Headers', Object.keys(subscription.headers ?? {}).join(', ') || NONE],
            ['Expire after', secondsOrNever(subscription.expireAfterSeconds)],
            subscription.mode === 'pull' && [
              'Delete if unused for',
              secondsOrNever(subscription.deleteAfterUnusedSeconds),
            ],
            ['Rejected deliveries', subscription.recoverRejected ? 'sent again after the next 2xx' : 'stay parked'],
            ['In flight at most', subscription.maxInFlight ?? UNLIMITED],
            ['Per second at most', subscription.maxPerSecond ?? UNLIMITED],
            ['Event types', subscription.eventTypes.join(', ')],
            ['Filter', subscription.filter ? <code>{JSON.stringify(subscription.filter)}</code> : NONE],
            ['Created', <Time at={subscription.createdAt} />],
            [
              'Signature',
              signing.state === 'signed' ? (
                <>
                  signed; the secret is from <Time at={signing.since} />
                  <TimeAfter words=", the previous one signs until" at={signing.previousValidUntil} />
                </>
              ) : (
                'not signed; rotate the secret to sign deliveries'
              ),
            ],
            ['Parked deliveries', `${count(parked.count)} of at most ${count(parked.limit)} with their body`],
            ['Held deliveries', `${count(held.count)} of at most ${count(parked.limit)}`],
          ]}
        />
        <Warnings warnings={subscription.warnings} />
      </Panel>
      <Panel title="Who changed it">
        <Changes subscriptionId={subscription.id} />
      </Panel>
    </>
  )
}

const secondsOrNever = (seconds: number | null) =>
  seconds === null ? <span className="muted">never</span> : counted(seconds, 'second')

function Changes({ subscriptionId }: { readonly subscriptionId: string }) {
  const { query, rows: all, more } = useList(auditQuery({ list: 'webhooks' }))
  if (query.error || query.isPending) return <QueryState query={query} />
  const rows = all.filter(({ on }) => on['subscriptionId'] === subscriptionId)
  if (rows.length === 0 && more === undefined) return <Empty title="No change is recorded." />
  return <AuditTable isOfOneEndpoint rows={rows} more={more} />
}
