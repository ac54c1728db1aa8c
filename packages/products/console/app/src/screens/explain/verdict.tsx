import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { Delivery, ExplainedEvent, Explanation } from '../../api/model.ts'
import { deliveryQuery, isDeletedQuery, policyQuery } from '../../api/queries.ts'
import { type Repair, repairOf, toneOfVerdict } from '../../rules/repair.ts'
import { type Slot, slotsOf } from '../../rules/slots.ts'
import { duration, outcomeLabel, outcomePhrase, shortUrl } from '../../rules/words.ts'
import { RoleButton, useAction } from '../../ui/action.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Failure, Id, Loading, Status, Time } from '../../ui/parts.tsx'
import { Report } from '../endpoint/check-tab.tsx'
import { EndpointLink } from '../links.tsx'

const MOMENT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/

/** A sentence of the API, with its moments in the person's own time. */
const withLocalTimes = (text: string) =>
  text.split(MOMENT).map((part, index) => (MOMENT.test(part) ? <Time key={index} at={part} /> : part))

interface VerdictProps {
  readonly event: ExplainedEvent
  readonly explanation: Explanation
}

export function Verdict({ event, explanation, isOpen }: VerdictProps & { readonly isOpen: boolean }) {
  const { verdict, url, subscriptionId, deliveryId } = explanation
  const [isShown, setShown] = useState(isOpen)
  const { data: isDeleted = false } = useQuery(isDeletedQuery(subscriptionId))
  const repair = isDeleted ? null : repairOf(verdict)
  const tone = toneOfVerdict(verdict)
  return (
    <section className={`panel verdict ${tone}`} aria-label={url ?? 'Deleted endpoint'}>
      <div className="panel-head">
        <h2>
          <Status tone={tone}>{verdict}</Status>{' '}
          {isDeleted || !url ? (
            <>Deleted endpoint {url && shortUrl(url)}</>
          ) : (
            <EndpointLink subscriptionId={subscriptionId} url={url} className="url" />
          )}
        </h2>
        {repair && <RepairButton event={event} explanation={explanation} repair={repair} />}
      </div>
      <p className="sentence">{withLocalTimes(explanation.explanation)}</p>
      {repair && <p className="hint">{repair.promise}</p>}
      {deliveryId !== null && verdict !== 'not-subscribed' && (
        <details open={isShown} onToggle={(toggled) => setShown(toggled.currentTarget.open)}>
          <summary>Schedule and attempts</summary>
          {isShown && <History deliveryId={deliveryId} />}
        </details>
      )}
    </section>
  )
}

function RepairButton({ event, explanation, repair }: VerdictProps & { readonly repair: Repair }) {
  const { subscriptionId, deliveryId } = explanation
  const act = useAction({
    run: async () => {
      switch (repair.action) {
        case 'redeliver':
          await client.deliveries.redeliver(deliveryId ?? '')
          return 'The delivery is sent again.'
        case 'deliver':
          await client.events.deliver(event.eventId, { subscriptionId })
          return 'The event is sent to the endpoint.'
        case 'enable':
          await client.subscriptions.change(subscriptionId, { enabled: true })
          return 'The endpoint is enabled.'
        case 'check':
          return client.subscriptions.check(subscriptionId)
      }
    },
    done: (result) => (typeof result === 'string' ? result : 'The check is done.'),
  })
  const kind = explanation.verdict === 'delivered' ? 'plain' : 'primary'
  return (
    <>
      <RoleButton
        kind={kind}
        needs={repair.action === 'enable' ? 'admin' : 'operator'}
        isBusy={act.isPending}
        onClick={() => act.mutate(undefined)}
      >
        {repair.label}
      </RoleButton>
      {typeof act.data === 'object' && (
        <Dialog title="Receiver check" onClose={act.reset}>
          <Report report={act.data} />
          <div className="dialog-buttons">
            <Button onClick={act.reset}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function History({ deliveryId }: { readonly deliveryId: string }) {
  const { data, error } = useQuery(deliveryQuery(deliveryId))
  const { data: policy } = useQuery(policyQuery)
  if (error) return <Failure error={error} />
  if (data === undefined || policy === undefined) return <Loading />
  return (
    <>
      <SlotLine slots={slotsOf(data, policy.retryWaitsMs)} waitsMs={policy.retryWaitsMs} />
      <Attempts delivery={data} />
      <p className="muted">
        Delivery <Id value={deliveryId} label="the id of the delivery" />
      </p>
    </>
  )
}

/** The other kinds are shown by their own names. */
const SLOT_WORDS: Partial<Record<Slot['kind'], string>> = {
  skipped: 'cool-down',
  later: 'if needed',
  unused: 'not needed',
}

const SlotLine = ({ slots, waitsMs }: { readonly slots: readonly Slot[]; readonly waitsMs: readonly number[] }) => (
  <ol className="slots" aria-label="Schedule of this run">
    {slots.map(({ slot, kind, at, attempt }) => (
      <li key={slot} className={kind}>
        <span className="slot-wait">{slot === 0 ? 'immediately' : `+${duration(waitsMs[slot - 1] ?? 0)}`}</span>
        <span className="slot-word">
          {kind === 'failed' && attempt ? outcomeLabel(attempt.outcome, attempt.status) : (SLOT_WORDS[kind] ?? kind)}
        </span>
        <span className="slot-time">{at === null ? ' ' : <Time at={at} />}</span>
      </li>
    ))}
  </ol>
)

function Attempts({ delivery: { attempts } }: { readonly delivery: Delivery }) {
  if (attempts.length === 0) return <p className="muted">No attempt was made so far.</p>
  return (
    <ol className="attempts">
      {attempts.map(({ attempt, run, at, outcome, status, durationMs, answer, detail }) => (
        <li key={attempt}>
          <div>
            <Status tone={outcome === 'delivered' ? 'good' : 'bad'}>Attempt {attempt}</Status>
            <span>
              <Time at={at} /> the endpoint {outcomePhrase(outcome, status)} after {duration(durationMs)}
              {run > 1 && `, in run ${run}`}.
            </span>
          </div>
          {detail !== undefined && <span className="muted">{detail}</span>}
          {answer !== undefined && <code className="answer">{answer}</code>}
        </li>
      ))}
    </ol>
  )
}
