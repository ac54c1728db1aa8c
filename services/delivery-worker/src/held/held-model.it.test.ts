import { newEventId, type OutcomeBatch, type Subscription, Unavailable } from '@switchhook/contracts'
import { type OpenedStore, useStore } from '@switchhook/servicekit'
import { createHeldStore, type HeldEntry, type HeldStore, type LeasedDelivery } from '@switchhook/store'
import { aSubscription, checkInLots, silentLog } from '@switchhook/testkit'
import fc from 'fast-check'
import { createPipeline } from '../pipeline/pipeline.ts'
import { HEALTHY, heldParts } from '../testing/delivering.ts'
import { aDeliveryWorld, type Point } from '../testing/one-delivery.ts'
import { createRecordOutcomes } from './record-outcomes.ts'
import { createVisitHeld } from './visit-held.ts'

/*
 * One delivery of a subscription that is paused and resumed, or whose deliveries clients receive until it is deleted. Messages
 * and batches are copied, workers die between any two steps, and leases end at any time. Whatever happened: once everything
 * works, the delivery is acknowledged or parked, or withdrawn if no client had it at the end of a lease, and nothing of it is
 * left in a queue or a list.
 */

let store: OpenedStore['store']
let held: HeldStore

useStore((opened) => {
  store = opened.store
  held = createHeldStore(opened.redis)
})

/** `unlisted`: the worker dies between the ledger and the list. */
type Death = 'none' | 'unlisted' | 'unremoved' | Point

class Died extends Unavailable {
  constructor() {
    super('redis', 'this worker died')
  }
}

type Action =
  | { readonly kind: 'handle' | 'record'; readonly index: number; readonly death: Death }
  | { readonly kind: 'duplicate' | 'duplicate-batch'; readonly index: number }
  /** `meanwhile`: after the visit has read which leases are over. */
  | { readonly kind: 'visit'; readonly death: Death; readonly meanwhile?: readonly Action[] }
  | { readonly kind: 'pause' | 'resume' | 'receive' | 'release' | 'lapse' | 'delete' }
  | { readonly kind: 'report'; readonly status: number }

function aWorld(mode: 'post' | 'pull') {
  const world = aDeliveryWorld(store, mode === 'pull' ? { url: '' } : {})
  const { first, messages } = world
  const id = first.subscriptionId
  const endpoint = { tenant: first.tenant, subscriptionId: id }
  const batches: OutcomeBatch[] = []
  const accepted: { readonly attempt: number; readonly status: number }[] = []
  let leases: LeasedDelivery[] = []
  const isHolding = (): boolean => !isDeleted && (mode === 'pull' || isPaused)
  let [isPaused, isDeleted, wasLapsed] = [false, false, false]
  /** Leases end when the test says so, not when their time is over. */
  let lapsed: HeldEntry[] = []

  function dying(death: Death) {
    const die = (): never => {
      throw new Died()
    }
    const at = async (point: Point): Promise<void> => {
      if (point === 'settled' && death === 'unlisted') {
        await held.remove(id, 'held', await held.due(id, { most: 10 }))
        die()
      }
      if (point === death) die()
    }
    world.set({ isHolding: isHolding(), isDeleted })
    const deps = world.depsOf({ at, endpoint: () => 'fails' })
    const pipeline = createPipeline(deps)
    const { conclude } = pipeline
    const parts: ReturnType<typeof heldParts> = {
      ...heldParts(),
      conclude,
      heldLimit: { ...heldParts().heldLimit, listAgain: async (message) => void (await store.listAgain(message)) },
    }
    const remove: HeldStore['remove'] = async (...args) => {
      if (death === 'unremoved') die()
      await held.remove(...args)
    }
    return { pipeline, parts, remove }
  }

  const subscriptionNow = (): Partial<Subscription> =>
    mode === 'pull' ? { mode, url: '' } : isPaused ? { paused: true } : {}

  async function unlessDead(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (!(error instanceof Died)) throw error
      return false
    }
  }

  return {
    ...world,
    batches,
    /** The outcomes that were reported within their leases. */
    accepted,
    wasLapsed: () => wasLapsed,
    async act(action: Action): Promise<void> {
      switch (action.kind) {
        case 'pause':
        case 'resume':
          isPaused = action.kind === 'pause'
          return await held.visitSoon(endpoint)
        case 'delete':
          isDeleted = mode === 'pull'
          return await held.visitSoon(endpoint)
        case 'duplicate':
          return void messages.push(...messages.slice(action.index, action.index + 1))
        case 'duplicate-batch':
          return void batches.push(...batches.slice(action.index, action.index + 1))
        case 'handle': {
          const [due] = messages.splice(action.index % messages.length, 1)
          if (due === undefined) return
          const { pipeline } = dying(action.death)
          if (!(await unlessDead(() => pipeline.deliver(due, 'due')))) messages.push(due)
          return
        }
        case 'visit': {
          const { parts, remove } = dying(action.death)
          const due = lapsed
          lapsed = []
          wasLapsed ||= due.length > 0 && action.death === 'none'
          const visit = createVisitHeld({
            ...parts,
            held: {
              ...held,
              remove,
              next: async () => (due.length > 0 ? { nowMs: 0, dueAtMs: null, lapsesAtMs: 0 } : await held.next(id)),
              lapsed: async () => {
                // Another visit finds them, too.
                if (action.meanwhile !== undefined) lapsed.push(...due)
                for (const each of action.meanwhile ?? []) await this.act(each)
                return due
              },
            },
            visits: { ...held.visits, claimDue: async () => [{ ...endpoint, claim: '' }] },
            readEndpoint: async () => ({
              health: HEALTHY,
              subscription: isDeleted ? undefined : aSubscription({ id, ...subscriptionNow() }),
            }),
            publish: async (delivery) => void messages.push(delivery),
            postLimits: { passOn: async () => null },
            waiting: async () => ({ yielding: 0, due: 0 }),
            log: silentLog,
          })
          return void (await visit())
        }
        case 'receive':
          if (mode === 'pull' && !isDeleted) leases.push(...(await held.receive(endpoint, 1, 300)))
          return
        case 'lapse':
          lapsed.push(...leases.map(({ delivery, lease }) => ({ deliveryId: delivery.deliveryId, score: lease })))
          leases = []
          return
        case 'release': {
          if (isDeleted) return
          const given = leases.map(({ delivery, lease }) => ({ deliveryId: delivery.deliveryId, lease }))
          if (given.length > 0) await held.release(id, given)
          leases = []
          return
        }
        case 'report': {
          if (isDeleted) return
          const { status } = action
          const outcome = { kind: status < 300 ? ('delivered' as const) : ('answered' as const), status }
          const reports = leases.map(({ delivery, lease }) => ({
            deliveryId: delivery.deliveryId,
            lease,
            durationMs: 1,
            outcome,
          }))
          const items = await held.report(id, reports)
          batches.push({ batchId: newEventId(), tenant: first.tenant, subscriptionId: id, items })
          accepted.push(...items.map(({ attempt }) => ({ attempt, status })))
          // If the worker never records them, the lease ends.
          lapsed.push(...items.map(({ deliveryId, lease }) => ({ deliveryId, score: lease })))
          leases = []
          return
        }
        case 'record': {
          const [batch] = batches.splice(action.index % batches.length, 1)
          if (batch === undefined) return
          const { parts, remove } = dying(action.death)
          const record = createRecordOutcomes({
            ...parts,
            held: { read: (ids) => held.read(ids), remove, recorded: async () => {} },
          })
          if (!(await unlessDead(() => record(batch)))) batches.push(batch)
          return
        }
      }
    },
    /** Until nothing is left: everything works, nothing is paused, and clients acknowledge. */
    async end(): Promise<void> {
      world.set({ isWorking: true })
      await this.act({ kind: 'resume' })
      for (let rounds = 0; ; rounds++) {
        while (messages.length > 0) await this.act({ kind: 'handle', index: 0, death: 'none' })
        while (batches.length > 0) await this.act({ kind: 'record', index: 0, death: 'none' })
        await this.act({ kind: 'lapse' })
        await this.act({ kind: 'visit', death: 'none' })
        await this.act({ kind: 'receive' })
        await this.act({ kind: 'report', status: 200 })
        const { count } = await held.count(id)
        const isEmpty = messages.length === 0 && batches.every(({ items }) => items.length === 0) && count === 0
        if (isEmpty) return
        if (rounds > 300) throw new Error('it never ends')
      }
    },
  }
}

const death = fc.constantFrom<Death>(
  'none',
  'none',
  'before the POST',
  'before the retry',
  'confirmed',
  'before settling',
  'settled',
  'unlisted',
  'unremoved',
)
const index = fc.nat(3)
const otherAction: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constantFrom('handle' as const, 'record' as const), index, death }),
  fc.record({ kind: fc.constantFrom('duplicate' as const, 'duplicate-batch' as const), index }),
  fc.record({
    kind: fc.constantFrom('pause', 'resume', 'receive', 'release', 'lapse', 'delete'),
  }) as fc.Arbitrary<Action>,
  fc.record({ kind: fc.constant('report' as const), status: fc.constantFrom(200, 503, 400) }),
)
const visit = fc.record({
  kind: fc.constant('visit' as const),
  death,
  meanwhile: fc.array(otherAction, { maxLength: 3 }),
})
const action: fc.Arbitrary<Action> = fc.oneof({ arbitrary: otherAction, weight: 4 }, { arbitrary: visit, weight: 1 })

/** Random actions rarely come in this order. */
const RECEIVED_THEN_DELETED: Action[] = [
  { kind: 'handle', index: 0, death: 'none' },
  { kind: 'receive' },
  { kind: 'delete' },
  { kind: 'lapse' },
  { kind: 'visit', death: 'none' },
]

test.each(['post', 'pull'] as const)(
  'whatever dies, is copied or lapses, a delivery of a %s subscription that holds is acknowledged or parked in the end',
  async (mode) => {
    async function isNotLost(actions: readonly Action[]): Promise<void> {
      const world = aWorld(mode)
      for (const each of actions) await world.act(each)
      await world.end()
      const { state, attempts } = (await world.find()) ?? {}
      expect(attempts).toEqual(expect.arrayContaining(world.accepted.map((each) => expect.objectContaining(each))))
      if (state !== 'withdrawn' || world.wasLapsed()) expect(state).toMatch(/^(acknowledged|parked)$/)
      if (mode === 'pull') expect(world.posts).toEqual([])
    }
    await isNotLost(RECEIVED_THEN_DELETED)
    await checkInLots(fc.array(action, { maxLength: 25 }), 150, isNotLost)
  },
)

const HANDLED: Action = { kind: 'handle', index: 0, death: 'none' }
const VISIT: Action = { kind: 'visit', death: 'none' }
const RECORDED: Action = { kind: 'record', index: 0, death: 'none' }

describe('an outcome that was reported within its lease counts', () => {
  const reported = (status: number): Action[] => [{ kind: 'receive' }, { kind: 'report', status }]

  test.each<[string, (status: number) => Action[], object[]]>([
    ['ends the lease before a worker records it', (status) => [...reported(status), VISIT, RECORDED], []],
    [
      'ends the lease while another worker records it',
      (status) => [...reported(status), { ...VISIT, meanwhile: [RECORDED] }],
      [],
    ],
    [
      'stalled while another one ended the lease before',
      (status) => [
        { kind: 'receive' },
        { kind: 'lapse' },
        { ...VISIT, meanwhile: [VISIT, ...reported(status)] },
        RECORDED,
      ],
      [{ attempt: 1, outcome: 'lapsed' }],
    ],
  ])('although a visit %s', async (_how, actions, before) => {
    for (const status of [200, 503, 422]) {
      const world = aWorld('pull')
      for (const each of [HANDLED, ...actions(status)]) await world.act(each)
      expect((await world.find())?.attempts).toMatchObject([...before, { attempt: before.length + 1, status }])
    }
  })
})
