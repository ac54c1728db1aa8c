import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@switchhook/testkit'
import type { ChaosStack } from './chaos-stack.ts'
import { type Fault, REPLICAS } from './plan.ts'

/** What became of a fault, in ms since 1970. */
export interface Strike {
  readonly fault: Fault
  readonly fromMs: number
  readonly toMs: number
  /** Why it could not be done here; undefined: it was. */
  readonly skipped: string | undefined
  /** Everything was ready and an event went all the way again. */
  readonly hasRecovered: boolean
}

const RECOVERS_WITHIN_MS = 90_000

const PARTS: readonly string[] = [
  'rabbitmq',
  'redis',
  ...Object.entries(REPLICAS).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, n) => `${service}-${n + 1}`),
  ),
]

/** Strikes, undoes what was done, and resolves when all services are ready and an event goes all the way again. */
export async function strike(stack: ChaosStack, fault: Fault, newEventArrives: () => Promise<void>): Promise<Strike> {
  const fromMs = Date.now()
  const skipped = await apply(stack, fault)
  const hasRecovered = await recovers(stack, newEventArrives)
  return { fault, fromMs, toMs: Date.now(), skipped, hasRecovered }
}

async function apply(stack: ChaosStack, fault: Fault): Promise<string | undefined> {
  switch (fault.kind) {
    case 'kill':
    case 'stop': {
      const ran = await stack.end(fault.target, fault.kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await stack.restore(fault.target)
      return ran ? undefined : 'its process cannot be reached from here'
    }
    case 'blackout': {
      const ran = await Promise.all(PARTS.map((name) => stack.end(name, 'SIGKILL')))
      await stack.restore('rabbitmq')
      await stack.restore('api-1')
      return ran.every(Boolean) ? undefined : 'not every process can be reached from here'
    }
    case 'cut':
      stack.wires[fault.target].cut()
      return undefined
    case 'freeze': {
      const wire = stack.wires[fault.target]
      wire.freeze()
      await sleep(fault.forMs)
      wire.thaw()
      return undefined
    }
    case 'alarm':
      return await raiseAlarm(stack, fault.forMs)
  }
}

const setWatermark = (...value: string[]): readonly string[] => ['set_vm_memory_high_watermark', ...value]

async function raiseAlarm({ rabbitmqctl }: ChaosStack, forMs: number): Promise<string | undefined> {
  if (rabbitmqctl === undefined) return "the broker's own command cannot be reached from here"
  if (!(await rabbitmqctl(setWatermark('absolute', '1')))) return 'the broker took no command'
  await sleep(forMs)
  // A broker that was killed meanwhile has forgotten the alarm, but may take no commands yet.
  await eventually(
    async () => {
      if (!(await rabbitmqctl(setWatermark('0.4')))) throw new Error('the alarm cannot be ended')
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  )
  return undefined
}

async function recovers(stack: ChaosStack, newEventArrives: () => Promise<void>): Promise<boolean> {
  const late = new AbortController()
  const tooLate = sleep(RECOVERS_WITHIN_MS, false, { signal: late.signal }).catch(() => false)
  const isWell = async (): Promise<boolean> => {
    await newEventArrives()
    return eventually(
      async () => {
        const names = await stack.notReady()
        if (names.length > 0) throw new Error(`not ready: ${names.join(', ')}`)
        return true
      },
      { timeoutMs: RECOVERS_WITHIN_MS },
    )
  }
  try {
    return await Promise.race([isWell().catch(() => false), tooLate])
  } finally {
    late.abort()
  }
}
