import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { REPLICAS } from '../faults/plan.ts'
import { openConfirmedPublisher } from '../load/platform-events.ts'
import { listDeliveries } from '../load/recoveries.ts'
import { everyServiceIsReady, type Load, type LoadOptions, startLoad } from '../load/start-load.ts'
import type { Observation } from '../reconcile/observation.ts'
import { settle } from '../reconcile/settle.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { BEHAVIOURS, BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import type { Backups } from './backups.ts'
import { type Finding, openWitness } from './witness.ts'

export type DrillKind = 'redis' | 'broker'

export type DrillResult = Awaited<ReturnType<typeof runDrill>>

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

type Say = (line: string) => void

/** Puts the stack under load, takes a backup, loses Redis or the broker, restores, and reconciles every event. */
export async function runDrill(kind: DrillKind, stack: ChaosStack, backups: Backups, say: Say) {
  const options: LoadOptions = {
    seed: SEED,
    openPublisher: () => openConfirmedPublisher(stack.amqpUrl),
    behaviours: kind === 'redis' ? LASTING : WITHOUT_NOTICES,
  }
  const load = await startLoad(stack, options)
  const receiver = await startReceiver()
  try {
    await load.newEventArrives()
    say('under load')
    await sleep(PERIODS_MS.before)
    const lost =
      kind === 'redis'
        ? await loseRedis(load, receiver, stack, backups, say)
        : await loseBroker(load, stack, backups, say)
    await sleep(PERIODS_MS.after)
    await load.subscribers.lastOutage()
    await load.stop()
    say('the load has ended; waiting for the remaining deliveries')
    const reconciliation = await settle(async () => ({
      ...(await load.observe()),
      ...lost.excused,
      messageCopies: lost.excused.disturbances,
      eventCopies: lost.excused.disturbances,
    }))
    const [lapse] = lost.excused.lapses
    return {
      kind,
      findings: lost.findings,
      sinceBackupMs: lost.sinceBackupMs,
      recoveryMs: lost.recoveryMs,
      reconciliation,
      otherProblems: [
        ...(await stack.unexpectedExits()),
        // The calls of the lost period are unknown after the restore.
        ...load.client.unusual
          .filter(({ status, atMs }) => !(status === 404 && lapse !== undefined && atMs >= lapse.fromMs))
          .map(({ request, status }) => `${request} was answered ${status}`),
      ],
      /** Deliveries that the delivery log shows as unfinished when all queues are empty. */
      unfinished: await countUnfinished(load),
    }
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
  readonly excused: Pick<Observation, 'disturbances' | 'lapses' | 'brokerLosses'>
}

async function loseRedis(load: Load, receiver: Receiver, stack: ChaosStack, backups: Backups, say: Say): Promise<Lost> {
  const folder = stack.redisFolder
  if (folder === undefined) throw new Error('the drill needs a Redis of this machine: set BACKING=local')
  const witness = await openWitness(load.client, receiver)

  const fromMs = Date.now()
  const copy = await backups.saveRedis(stack.redisUrl())
  const savedAtMs = Date.now()
  say(`Redis is saved; the load continues for ${PERIODS_MS.sinceBackup / 1_000} s`)
  await witness.change()
  await sleep(PERIODS_MS.sinceBackup)

  const lostAtMs = Date.now()
  await stack.end('redis', 'SIGKILL')
  await rm(folder, { recursive: true })
  await stack.restore('redis')
  say('Redis has lost its data and is back without it')
  const services = await everyServiceIsNotReady(stack)
  const whileEmpty = await witness.readWhileEmpty()
  await sleep(PERIODS_MS.empty)
  await stack.end('redis', 'SIGKILL')
  say(await backups.restoreRedis(copy, folder))
  await stack.restore('redis')
  const toMs = Date.now()
  await isWell(load, stack)
  const recoveryMs = Date.now() - lostAtMs
  say('every service is ready again, and a new event was delivered')
  const findings = [
    { what: `while Redis is empty, all ${services} services pause and are not ready`, holds: services === SERVICES },
    whileEmpty,
    await nothingWasRestarted(stack),
    ...(await witness.look()),
  ]
  return {
    findings,
    sinceBackupMs: lostAtMs - savedAtMs,
    recoveryMs,
    excused: {
      disturbances: [{ fromMs, toMs: Date.now() }],
      lapses: [{ kind: 'rolled back', fromMs, toMs }],
      brokerLosses: [],
    },
  }
}

async function loseBroker(load: Load, stack: ChaosStack, backups: Backups, say: Say): Promise<Lost> {
  const folder = stack.rabbitmqFolder
  if (folder === undefined) throw new Error('the drill needs a RabbitMQ of this machine: set BACKING=local')
  const copy = await backups.saveDefinitions(stack.managementUrl())
  const savedAtMs = Date.now()
  say(`RabbitMQ's definitions are saved; the load continues for ${PERIODS_MS.sinceBackup / 1_000} s`)
  await sleep(PERIODS_MS.sinceBackup)

  const confirmed = new Set(load.events.confirmed)
  await stack.end('rabbitmq', 'SIGKILL')
  const lostAtMs = Date.now()
  await rm(folder, { recursive: true })
  await stack.restore('rabbitmq')
  await backups.restoreDefinitions(copy, stack.managementUrl())
  say('RabbitMQ has lost its data and is back with its definitions')
  await isWell(load, stack)
  const recoveryMs = Date.now() - lostAtMs
  say('every service is ready again, and a new event was delivered')
  return {
    findings: [await nothingWasRestarted(stack)],
    sinceBackupMs: lostAtMs - savedAtMs,
    recoveryMs,
    excused: {
      disturbances: [{ fromMs: lostAtMs, toMs: Date.now() }],
      lapses: [],
      brokerLosses: [{ atMs: lostAtMs, confirmed }],
    },
  }
}

const SERVICES = Object.values(REPLICAS).reduce((sum, count) => sum + count, 0)

/** Resolves to the number of services that are not ready, once it is all of them or the time is up. */
async function everyServiceIsNotReady(stack: ChaosStack): Promise<number> {
  let names: readonly string[] = []
  await eventually(
    async () => {
      names = await stack.notReady()
      if (names.length < SERVICES) throw new Error('some services are ready')
    },
    { timeoutMs: 15_000, intervalMs: 200 },
  ).catch(() => undefined)
  return names.length
}

/** The stack does not restart services, so a service that ended would be missing. */
const nothingWasRestarted = async (stack: ChaosStack): Promise<Finding> => ({
  what: 'all services resume without a restart',
  holds: (await stack.unexpectedExits()).length === 0,
})

async function isWell(load: Load, stack: ChaosStack): Promise<void> {
  await everyServiceIsReady(stack, READY_WITHIN_MS)
  await load.newEventArrives()
}

/** Counts the deliveries that the delivery log shows as pending or waiting. */
async function countUnfinished({ client, subscribers }: Load): Promise<number> {
  let count = 0
  for (const { subscriptionId } of subscribers.subscriptions) {
    for (const state of ['pending', 'waiting']) count += (await listDeliveries(client, subscriptionId, state)).length
  }
  return count
}
