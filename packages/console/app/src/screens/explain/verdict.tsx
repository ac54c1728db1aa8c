import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { Delivery, ExplainedEvent, Explanation } from '../../api/model.ts'
import { deliveryQuery, isDeletedQuery, policyQuery } from '../../api/queries.ts'
import { type Repair, repairOf, toneOfVerdict } from '../../rules/repair.ts'
import { slotsOf } from '../../rules/slots.ts'
import { duration, outcomePhrase, shortUrl } from '../../rules/words.ts'
import { usePerson } from '../../session/person.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Failure, Id, Loading, Status, Time } from '../../ui/parts.tsx'
import { useAction } from '../../ui/use-action.ts'
import { Report } from '../endpoint/check-tab.tsx'
import { EndpointLink } from '../links.tsx'
import { SlotLine } from './slot-line.tsx'

const MOMENT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/

/** A sentence of the API, with its moments in the person's own time. */
const withLocalTimes = (text: string) =>
  text.split(MOMENT).map((part, index) => (MOMENT.test(part) ? <Time key={index} at={part} /> : part))

interface VerdictProps {
  readonly event: ExplainedEvent
  readonly explanation: Explanation
}

/** One endpoint: the verdict in a sentence, the button that repairs it, and the history on demand. */
export function Verdict({ event, explanation, isOpen }: VerdictProps & { readonly isOpen: boolean }) {
  const [isShown, setShown] = useState(isOpen)
  const { data: isDeleted = false } = useQuery(isDeletedQuery(explanation.subscriptionId))
  const repair = isDeleted ? null : repairOf(explanation.verdict)
  const address = explanation.url === null ? '' : shortUrl(explanation.url)
  return (
    <section
      className={`panel verdict ${toneOfVerdict(explanation.verdict)}`}
      aria-label={explanation.url ?? 'Deleted endpoint'}
    >
      <div className="panel-head">
        <h2>
          <Status tone={toneOfVerdict(explanation.verdict)}>{explanation.verdict}</Status>{' '}
          {isDeleted || address === '' ? (
            <>Deleted endpoint {address}</>
          ) : (
            <EndpointLink subscriptionId={explanation.subscriptionId} url={explanation.url} className="url" />
          )}
        </h2>
        {repair && <RepairButton event={event} explanation={explanation} repair={repair} />}
      </div>
      <p className="sentence">{withLocalTimes(explanation.explanation)}</p>
      {repair && <p className="hint">{repair.promise}</p>}
      {explanation.deliveryId !== null && explanation.verdict !== 'not-subscribed' && (
        <details open={isShown} onToggle={(toggled) => setShown(toggled.currentTarget.open)}>
          <summary>Schedule and attempts</summary>
          {isShown && <History deliveryId={explanation.deliveryId} />}
        </details>
      )}
    </section>
  )
}

function RepairButton({ event, explanation, repair }: VerdictProps & { readonly repair: Repair }) {
  const { refusal } = usePerson()
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
      <Button
        kind={kind}
        refusal={refusal(repair.action === 'enable' ? 'admin' : 'operator')}
        isBusy={act.isPending}
        onClick={() => act.mutate(undefined)}
      >
        {repair.label}
      </Button>
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

function Attempts({ delivery: { attempts } }: { readonly delivery: Delivery }) {
  if (attempts.length === 0) return <p className="muted">No attempt was made so far.</p>
  return (
    <ol className="attempts">
      {attempts.map(({ attempt, run, at, outcome, status, durationMs, answer }) => (
        <li key={attempt}>
          <div>
            <Status tone={outcome === 'delivered' ? 'good' : 'bad'}>Attempt {attempt}</Status>
            <span>
              <Time at={at} /> the endpoint {outcomePhrase(outcome, status)} after {duration(durationMs)}
              {run > 1 && `, in run ${run}`}.
            </span>
          </div>
          {answer !== undefined && <code className="answer">{answer}</code>}
        </li>
      ))}
    </ol>
  )
}
