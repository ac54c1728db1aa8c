import { Link } from '@tanstack/react-router'
import { client } from '../../api/client.ts'
import type { ReceiverReport, Subscription } from '../../api/model.ts'
import { RoleButton, useAction } from '../../ui/action.tsx'
import { Failure, Notice, Panel, Status } from '../../ui/parts.tsx'

export function CheckTab({ subscription }: { readonly subscription: Subscription }) {
  const test = useAction({ run: () => client.subscriptions.test(subscription.id), showsErrors: true })
  const check = useAction({ run: () => client.subscriptions.check(subscription.id), showsErrors: true })
  return (
    <>
      <Panel
        title="Test delivery"
        actions={
          <RoleButton needs="operator" isBusy={test.isPending} onClick={() => test.mutate(undefined)}>
            Send a test
          </RoleButton>
        }
      >
        <p>Sends one example event, signed and retried like a real one, and marked as a test.</p>
        {test.error && <Failure error={test.error} />}
        {test.data && (
          <Notice tone="good">
            The test is on its way.{' '}
            <Link to="/events/$eventId" params={{ eventId: test.data.eventId }}>
              See what happens to it
            </Link>
          </Notice>
        )}
      </Panel>
      <Panel
        title="Receiver check"
        actions={
          <RoleButton
            needs="operator"
            refusal={subscription.mode === 'pull' ? 'Clients receive its deliveries.' : null}
            isBusy={check.isPending}
            onClick={() => check.mutate(undefined)}
          >
            {check.isPending ? 'Checking…' : 'Check the receiver'}
          </RoleButton>
        }
      >
        <p>
          Sends a few requests, some of them forged or repeated, and reports whether the receiver verifies signatures,
          answers quickly and drops duplicates.
        </p>
        {check.error && <Failure error={check.error} />}
        {check.data && <Report report={check.data} />}
      </Panel>
    </>
  )
}

const TITLES: Readonly<Record<string, string>> = {
  delivery: 'Accepts a delivery',
  speed: 'Answers quickly',
  duplicate: 'Accepts a duplicate',
  'forged-signature': 'Rejects a forged signature',
  'stale-timestamp': 'Rejects an old timestamp',
  'kept-connection': 'Reads each request, and answers it once',
}

const RESULTS = { passed: ['good', 'Passed'], failed: ['bad', 'Failed'], skipped: ['quiet', 'Skipped'] } as const

export const Report = ({ report }: { readonly report: ReceiverReport }) => (
  <>
    <p role="status">
      {report.verdict === 'good' ? (
        <Status tone="good">The receiver does everything right.</Status>
      ) : (
        <Status tone="bad">The receiver needs work.</Status>
      )}
    </p>
    <ul className="findings">
      {report.findings.map(({ check, result, seen, advice }) => (
        <li key={check}>
          <Status tone={RESULTS[result][0]}>{RESULTS[result][1]}</Status>
          <div>
            <strong>{TITLES[check] ?? check}</strong>
            <p>{seen}</p>
            {advice !== null && <p className="muted">{advice}</p>}
          </div>
        </li>
      ))}
    </ul>
  </>
)
