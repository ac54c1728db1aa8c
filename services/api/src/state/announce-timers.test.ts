import type { StateChange } from '@switchhook/store'
import { announceTimers } from './announce-timers.ts'

const change: StateChange = {
  records: [],
  events: [],
  timers: [{ id: 'recovery:1', dueInMs: 5, payload: {} }],
}

test.each([
  ['committed', [change.timers]],
  ['conflict', []],
] as const)('after %s, the timers that are announced are %j', async (result, expected) => {
  const announced: StateChange['timers'][] = []
  const store = announceTimers({ read: async () => [], commit: async () => result }, (timers) => announced.push(timers))
  expect(await store.commit('acme', change)).toBe(result)
  expect(announced).toEqual(expected)
})
