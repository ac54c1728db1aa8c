import { mkdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository, runCommand, waitUntil } from '@switchhook/test-servers'
import { managementEnvironment, openManagement } from '@switchhook/testkit'
import { REPLICAS } from '../faults/plan.ts'
import type { UnusualAnswer } from '../load/client.ts'
import { listDeliveries } from '../load/recoveries.ts'
import { everyServiceIsReady, type Load, startLoad } from '../load/start-load.ts'
import { DUPLICATES_ANYTHING, type Observation } from '../reconcile/observation.ts'
import type { Problem } from '../reconcile/problem.ts'
import { conclude, figuresOf, secondsOf } from '../report.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { BEHAVIOURS, BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import { openWitness } from './witness.ts'

/** What is lost. */
export const DRILLS = ['redis', 'broker'] as const

/** How long the load runs before the backup, between the backup and the loss, while Redis is empty, and afterwards. */
const PERIODS_MS = { before: 8_000, sinceBackup: 20_000, empty: 3_000, after: 10_000 }
const READY_WITHIN_MS = 120_000
const SERVICES = Object.values(REPLICAS).reduce((sum, count) => sum + count, 0)

/** The seed decides how the endpoints behave. */
const SEED = 20261122

/** No recovery and no outage of a whole schedule belong to a drill, and the restore of a backup takes longer than events last. */
const LASTING = BEHAVIOURS.filter(
  ({ name, mode, expireAfterSeconds }) =>
    name !== BROKEN_AT_FIRST && name !== DOWN_FOR_LONG && mode !== 'pull' && expireAfterSeconds === undefined,
)
/** A notice that the broker loses leaves no trace by which it could be excused. */
const WITHOUT_NOTICES = LASTING.filter(({ eventTypes }) => eventTypes.every((type) => !type.startsWith('webhook.')))

/**
 * Puts the stack under load, takes a backup, loses Redis or the broker, restores, and reconciles every event.
 * @param copies the folder of the backup
 */
export async function runDrill(drill: (typeof DRILLS)[number], stack: ChaosStack, copies: string): Promise<void> {
  const isRedis = drill === 'redis'
  const name = isRedis ? 'redis' : 'rabbitmq'
  const dataFolder = isRedis ? stack.redisFolder : stack.rabbitmqFolder
  if (dataFolder === undefined) throw new Error(`the drill needs a ${name} of this machine: set BACKING=local`)
  const unmet: Problem[] = []
  const check = (what: string, holds: boolean): void => {
    console.log(`  ${holds ? 'yes' : 'NO '}  ${what}`)
    if (!holds) unmet.push({ kind: 'does not hold', what })
  }

  mkdirSync(copies, { recursive: true })
  await using load = await startLoad(stack, SEED, isRedis ? LASTING : WITHOUT_NOTICES)
  await load.newEventArrives()
  console.log('under load')
  await sleep(PERIODS_MS.before)
  await using witness = isRedis ? await openWitness(load.client, check) : undefined

  const fromMs = Date.now()
  const copy = await (isRedis ? saveRedis(stack, copies) : saveDefinitions(stack, copies))
  const savedAtMs = Date.now()
  console.log(`${name} is saved; the load continues for ${secondsOf(PERIODS_MS.sinceBackup)} s`)
  await witness?.change()
  await sleep(PERIODS_MS.sinceBackup)

  const confirmed = new Set(load.events.confirmed)
  await stack.end(name, 'SIGKILL')
  const lostAtMs = Date.now()
  await rm(dataFolder, { recursive: true })
  await stack.restore(name)
  console.log(`${name} has lost its data and is back without it`)
  if (witness === undefined) await restoreDefinitions(stack, copy)
  else {
    const allPause = await waitUntil(async () => (await stack.notReady()).length === SERVICES, 15_000, 200)
    check(`while Redis is empty, all ${SERVICES} services pause and are not ready`, allPause)
    await witness.readWhileEmpty()
    await sleep(PERIODS_MS.empty)
    await stack.end(name, 'SIGKILL')
    console.log(await run('sh', ['restore.sh', copy, dataFolder], {}))
    await stack.restore(name)
  }
  const restoredAtMs = Date.now()
  await everyServiceIsReady(stack, READY_WITHIN_MS)
  await load.newEventArrives()
  const recoveryMs = Date.now() - lostAtMs
  console.log('every service is ready again, and a new event was delivered')
  // The stack does not restart services, so a service that ended would be missing.
  check('all services resume without a restart', (await stack.unexpectedExits()).length === 0)
  await witness?.look()
  const disturbances = [{ ...DUPLICATES_ANYTHING, fromMs: isRedis ? fromMs : lostAtMs, toMs: Date.now() }]
  await sleep(PERIODS_MS.after)

  const observe = async (): Promise<Observation> => ({
    ...(await load.observe()),
    disturbances,
    lapses: isRedis ? [{ kind: 'rolled back', fromMs, toMs: restoredAtMs }] : [],
    brokerLosses: isRedis ? [] : [{ atMs: lostAtMs, confirmed }],
  })
  // The calls of the lost period are unknown after the restore.
  const isOfLostCall = ({ status, atMs }: UnusualAnswer): boolean => isRedis && status === 404 && atMs >= fromMs
  const result = await load.finish(observe, isOfLostCall)
  const problems = [...unmet, ...result.problems]
  conclude(
    [
      ['from the backup to the loss', `${secondsOf(lostAtMs - savedAtMs)} s`],
      ['from the loss until all was well', `${secondsOf(recoveryMs)} s`],
      ...figuresOf({ ...result, problems }),
      ['deliveries that the delivery log shows as unfinished', await countUnfinished(load)],
    ],
    problems,
    { good: 'the restore did what docs/backup.md promises', bad: 'something is wrong' },
  )
}

/** Each returns the path of the copy. */
function saveRedis(stack: ChaosStack, folder: string): Promise<string> {
  const { hostname, port } = new URL(stack.redisUrl())
  return run('sh', ['backup.sh'], { BACKUP_DIR: folder, REDIS_HOST: hostname, REDIS_PORT: port })
}

const saveDefinitions = (stack: ChaosStack, folder: string): Promise<string> =>
  run(process.execPath, ['backup-definitions.mjs'], {
    BACKUP_DIR: folder,
    ...managementEnvironment(stack.managementUrl()),
  })

async function restoreDefinitions(stack: ChaosStack, copy: string): Promise<void> {
  const definitions = JSON.parse(readFileSync(copy, 'utf8')) as object
  await openManagement(stack.managementUrl(), '/').call('POST', 'definitions', definitions)
}

/**
 * Runs a script of `infra`, which operators use, too (docs/backup.md). Returns its standard output.
 * @throws with the output if it fails
 */
async function run(
  command: string,
  [script = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const path = join(repository, 'infra/helm/switchhook/files', script)
  const { ok, stdout, output } = await runCommand(command, [path, ...args], { env: { ...process.env, ...env } })
  if (!ok) throw new Error(`${script} failed:\n${output}`)
  return stdout.trim()
}

/** Counts the deliveries that the delivery log shows as pending or waiting, when all queues are empty. */
async function countUnfinished({ client, subscribers }: Load): Promise<number> {
  let count = 0
  for (const { subscriptionId } of subscribers.endpoints) {
    for (const state of ['pending', 'waiting']) count += (await listDeliveries(client, subscriptionId, state)).length
  }
  return count
}
