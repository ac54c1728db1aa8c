import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Say, waitUntil } from '@switchhook/test-servers'
import { type Receiver, startReceiver } from '@switchhook/testkit'
import { REPLICAS } from '../faults/plan.ts'
import { listDeliveries } from '../load/recoveries.ts'
import { everyServiceIsReady, type Load, startLoad } from '../load/start-load.ts'
import type { Observation } from '../reconcile/observation.ts'
import { conclude, figuresOf, problemsOf, type Rows } from '../report.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { BEHAVIOURS, BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import type { Backups } from './backups.ts'
import { type Finding, openWitness } from './witness.ts'

export type DrillKind = 'redis' | 'broker'

/** How long the load runs before the backup, between the backup and the loss, while Redis is empty, and afterwards. */
const PERIODS_MS = { before: 8_000, sinceBackup: 20_000, empty: 3_000, after: 10_000 }
const READY_WITHIN_MS = 120_000

/** The seed decides how the endpoints behave. */
const SEED = 20261122

/** No recovery and no outage of a whole schedule belong to a drill, and the restore of a backup takes longer than events last. */
const LASTING = BEHAVIOURS.filter(
  ({ name, mode, expireAfterSeconds }) =>
    name !== BROKEN_AT_FIRST && name !== DOWN_FOR_LONG && mode !== 'pull' && expireAfterSeconds === undefined,
)
/** A notice that the broker loses leaves no trace by which it could be excused. */
const WITHOUT_NOTICES = LASTING.filter(({ eventTypes }) => eventTypes.every((type) => !type.startsWith('webhook.')))

/** Puts the stack under load, takes a backup, loses Redis or the broker, restores, and reconciles every event. */
export async function runDrill(kind: DrillKind, stack: ChaosStack, backups: Backups, say: Say): Promise<void> {
  const load = await startLoad(stack, SEED, kind === 'redis' ? LASTING : WITHOUT_NOTICES)
  const receiver = await startReceiver()
  try {
    await load.newEventArrives()
    say('under load')
    await sleep(PERIODS_MS.before)
    const { findings, sinceBackupMs, recoveryMs, excused } = await loseAndRestore(
      kind,
      load,
      receiver,
      stack,
      backups,
      say,
    )
    await sleep(PERIODS_MS.after)
    const { reconciliation } = await load.finish(say, async () => ({ ...(await load.observe()), ...excused }))
    const [lapse] = excused.lapses
    const otherProblems = [
      ...(await stack.unexpectedExits()),
      // The calls of the lost period are unknown after the restore.
      ...load.client.unusual(({ status, atMs }) => status === 404 && lapse !== undefined && atMs >= lapse.fromMs),
      ...findings.filter(({ holds }) => !holds).map(({ what }) => `does not hold: ${what}`),
    ]
    for (const { what, holds } of findings) say(`  ${holds ? 'yes' : 'NO '}  ${what}`)
    const rows: Rows = [
      ['from the backup to the loss', seconds(sinceBackupMs)],
      ['from the loss until all was well', seconds(recoveryMs)],
      ...figuresOf({ reconciliation, otherProblems }),
      ['deliveries that the delivery log shows as unfinished', await countUnfinished(load)],
    ]
    conclude(rows, problemsOf({ reconciliation, otherProblems }), {
      good: 'the restore did what docs/backup.md promises',
      bad: 'something is wrong',
    })
  } finally {
    await load.close()
    await receiver.close()
  }
}

interface Lost {
  readonly findings: readonly Finding[]
  /** From the end of the backup to the loss, in ms: the period that a restore of Redis undoes. */
  readonly sinceBackupMs: number
  /** From the loss until every service was ready and a new event was delivered, in ms. */
  readonly recoveryMs: number
  /** What the loss excuses. */
  readonly excused: Pick<Observation, 'disturbances' | 'messageCopies' | 'eventCopies' | 'lapses' | 'brokerLosses'>
}

async function loseAndRestore(
  kind: DrillKind,
  load: Load,
  receiver: Receiver,
  stack: ChaosStack,
  backups: Backups,
  say: Say,
): Promise<Lost> {
  const [name, folder] =
    kind === 'redis' ? (['redis', stack.redisFolder] as const) : (['rabbitmq', stack.rabbitmqFolder] as const)
  if (folder === undefined) throw new Error(`the drill needs a ${name} of this machine: set BACKING=local`)
  const witness = kind === 'redis' ? await openWitness(load.client, receiver) : undefined

  const fromMs = Date.now()
  const copy = await (kind === 'redis'
    ? backups.saveRedis(stack.redisUrl())
    : backups.saveDefinitions(stack.managementUrl()))
  const savedAtMs = Date.now()
  say(`${name} is saved; the load continues for ${seconds(PERIODS_MS.sinceBackup)}`)
  await witness?.change()
  await sleep(PERIODS_MS.sinceBackup)

  const confirmed = new Set(load.events.confirmed)
  await stack.end(name, 'SIGKILL')
  const lostAtMs = Date.now()
  await rm(folder, { recursive: true })
  await stack.restore(name)
  say(`${name} has lost its data and is back without it`)
  const findings: Finding[] = []
  if (witness === undefined) await backups.restoreDefinitions(copy, stack.managementUrl())
  else {
    const allPause = await waitUntil(async () => (await stack.notReady()).length === SERVICES, 15_000, 200)
    findings.push(
      { what: `while Redis is empty, all ${SERVICES} services pause and are not ready`, holds: allPause },
      await witness.readWhileEmpty(),
    )
    await sleep(PERIODS_MS.empty)
    await stack.end(name, 'SIGKILL')
    say(await backups.restoreRedis(copy, folder))
    await stack.restore(name)
  }
  const toMs = Date.now()
  await everyServiceIsReady(stack, READY_WITHIN_MS)
  await load.newEventArrives()
  const recoveryMs = Date.now() - lostAtMs
  say('every service is ready again, and a new event was delivered')
  // The stack does not restart services, so a service that ended would be missing.
  const nothingEnded = (await stack.unexpectedExits()).length === 0
  findings.push({ what: 'all services resume without a restart', holds: nothingEnded })
  if (witness !== undefined) findings.push(...(await witness.look()))
  const disturbances = [{ fromMs: kind === 'redis' ? fromMs : lostAtMs, toMs: Date.now() }]
  return {
    findings,
    sinceBackupMs: lostAtMs - savedAtMs,
    recoveryMs,
    excused: {
      disturbances,
      messageCopies: disturbances,
      eventCopies: disturbances,
      lapses: kind === 'redis' ? [{ kind: 'rolled back', fromMs, toMs }] : [],
      brokerLosses: kind === 'redis' ? [] : [{ atMs: lostAtMs, confirmed }],
    },
  }
}

const SERVICES = Object.values(REPLICAS).reduce((sum, count) => sum + count, 0)

/** Counts the deliveries that the delivery log shows as pending or waiting, when all queues are empty. */
async function countUnfinished({ client, subscribers }: Load): Promise<number> {
  let count = 0
  for (const { subscriptionId } of subscribers.endpoints) {
    for (const state of ['pending', 'waiting']) count += (await listDeliveries(client, subscriptionId, state)).length
  }
  return count
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
