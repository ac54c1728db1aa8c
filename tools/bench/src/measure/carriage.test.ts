import { carriageOf } from './carriage.ts'

const published = new Map([
  ['delivery.due', 20],
  ['delivery.due.1', 4],
  ['delivery.backlog', 6],
  ['delivery.packets', 7],
  ['delivery.packets.1', 3],
])

test('what did not travel alone travelled in packets', () => {
  expect(carriageOf(published, 150)).toEqual({ alone: 0.2, packets: 10, perPacket: 12 })
})

test('without packets, every delivery travels alone', () => {
  expect(carriageOf(new Map([['delivery.due', 10]]), 10)).toEqual({ alone: 1, packets: 0, perPacket: 0 })
})
