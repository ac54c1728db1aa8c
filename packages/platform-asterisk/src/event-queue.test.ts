import type { AriChannel, AriEvent } from './ari/ari-model.ts'
import { createEventQueue } from './event-queue.ts'

const channel = (id: string): AriChannel => ({
  id,
  name: `PJSIP/${id}`,
  state: 'Up',
  creationtime: '',
  caller: { name: '', number: '' },
  dialplan: { app_name: '', app_data: '' },
})
const ends = (id: string): AriEvent => ({ type: 'ChannelDestroyed', channel: channel(id) })
const transfers = (id: string, other?: string): AriEvent => ({
  type: 'ChannelTransfer',
  referred_by: { source_channel: channel(id) },
  refer_to: other === undefined ? {} : { destination_channel: channel(other) },
})

/** Which of the events is handled after which, if the first one takes longest. */
async function handled(...events: readonly AriEvent[]): Promise<readonly number[]> {
  const queue = createEventQueue()
  const order: number[] = []
  const handle = async (at: number) => {
    for (let turn = events.length; turn > at; turn -= 1) await new Promise(setImmediate)
    order.push(at)
  }
  await Promise.all(events.map((event, at) => queue.run(event, () => handle(at))))
  return order
}

test.each([
  ['a transfer that its phone has asked for', transfers('a'), ends('a')],
  ['a transfer of another call of the phone to this one', transfers('b', 'a'), ends('a')],
  ['its own earlier events', { type: 'Dial', peer: channel('a') }, ends('a')],
])('the end of a channel is handled after %s', async (_what, first, second) => {
  expect(await handled(first, second)).toEqual([0, 1])
})

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('the end of %s is handled after a transfer that waits for earlier events of %s', async (channelId, busyId) => {
  const hold: AriEvent = { type: 'ChannelHold', channel: channel(busyId) }
  expect(await handled(hold, transfers(channelId, busyId), ends(channelId))).toEqual([0, 1, 2])
})

test('the end of a channel does not wait for events of others', async () => {
  const device = { type: 'ContactStatusChange', endpoint: { resource: 'alice' } }
  expect(await handled(device, transfers('b', 'c'), ends('a'))).toEqual([2, 1, 0])
})

test('two transfers of the same two calls do not wait for each other', async () => {
  expect(await handled(transfers('a', 'b'), transfers('b', 'a'), ends('a'))).toEqual([0, 1, 2])
})
