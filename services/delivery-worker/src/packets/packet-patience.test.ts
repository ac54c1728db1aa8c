import { type Delivery, deliveryHeaders } from '@switchhook/contracts'
import { createIsolation } from '../endpoint/isolate.ts'
import { aDelivery } from '../testing/deliveries.ts'
import { createPackets, PACKET_PATIENCE_MS } from './packets.ts'

/** A confirm that is slower than the patience of the packet. */
const CONFIRM_MS = 2 * PACKET_PATIENCE_MS

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('of two members of a subscription with one turn, the one that moves to a lane leaves no copy', async () => {
  const hanging = aDelivery()
  const crowded = { ...aDelivery(), subscriptionId: hanging.subscriptionId }
  const inLane: Delivery[] = []
  const copies: Delivery[] = []
  const { inTurn } = createIsolation({
    turns: { least: 1, most: 1, beyondLeast: 0 },
    publishToLane: async (delivery) => {
      await new Promise((resolve) => setTimeout(resolve, CONFIRM_MS))
      inLane.push(delivery)
    },
    nowMs: () => performance.now(),
  })
  const hang = (): Promise<void> => new Promise(() => {})
  const { handle } = createPackets({
    mostLeft: 2,
    handle: (due, begins) =>
      inTurn(due, 'due', {
        look: async () => {},
        needsTurn: () => true,
        isFresh: () => true,
        work: () => {
          begins()
          return hang()
        },
      }),
    hasResult: () => false,
    publishAlone: async () => {},
    publishCopy: async (due) => void copies.push(due),
    copyWaitMs: 60_000,
    log: { error: () => {}, warn: () => {} },
  })
  const members = [hanging, crowded].map((due) => ({ content: due.body, headers: deliveryHeaders(due) }))
  const handled = handle({ id: 'one', members, returns: 0 })
  await jest.advanceTimersByTimeAsync(10 * PACKET_PATIENCE_MS)
  await handled
  expect({ inLane, copies }).toEqual({ inLane: [crowded], copies: [hanging] })
})
