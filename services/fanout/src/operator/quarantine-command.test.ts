import type { Quarantine } from '@switchhook/messaging'
import { parseCommand, runCommand } from './quarantine-command.ts'

test.each<[string, ReturnType<typeof parseCommand>]>([
  ['list', { name: 'list', limit: 20 }],
  ['list --limit 5', { name: 'list', limit: 5 }],
  ['requeue', { name: 'requeue', limit: 1_000 }],
  ['requeue --limit=1', { name: 'requeue', limit: 1 }],
])('"%s" is parsed', (line, expected) => {
  expect(parseCommand(line.split(' ').filter(Boolean))).toEqual(expected)
})

test.each([
  ['', 'expected list or requeue'],
  ['drop', 'expected list or requeue'],
  ['list requeue', 'expected list or requeue'],
  ['list --limit 0', '--limit must be a whole number of at least 1'],
  ['list --limit many', '--limit must be a whole number of at least 1'],
  ['list --all', '--all'],
])('"%s" is refused', (line, problem) => {
  expect(() => parseCommand(line.split(' ').filter(Boolean))).toThrow(problem)
})

const quarantine: Quarantine = {
  list: async (limit) =>
    [
      {
        origin: {
          reason: 'no id',
          queue: 'fanout.events',
          exchange: 'x',
          routingKey: 'k',
          at: '2026-11-20T08:30:00.000Z',
        },
        messageId: 'm1',
        type: 'call.status',
        headers: {},
        content: Buffer.from('x'.repeat(5_000)),
      },
      { origin: undefined, messageId: undefined, type: undefined, headers: {}, content: Buffer.from('by hand') },
    ].slice(0, limit),
  requeue: async (limit) => ({ requeued: limit, kept: 0 }),
  close: () => Promise.resolve(),
}

test('list prints each message as one line of JSON, with the start of its content', async () => {
  const lines = (await runCommand(quarantine, 'list', 10)).map((line) => JSON.parse(line) as unknown)
  expect(lines).toEqual([
    {
      at: '2026-11-20T08:30:00.000Z',
      from: 'fanout.events',
      reason: 'no id',
      messageId: 'm1',
      type: 'call.status',
      bytes: 5_000,
      content: 'x'.repeat(2_000),
    },
    { at: null, from: null, reason: null, messageId: null, type: null, bytes: 7, content: 'by hand' },
  ])
})

test('requeue prints how many messages were sent back', async () => {
  expect(await runCommand(quarantine, 'requeue', 3)).toEqual(['{"requeued":3,"kept":0}'])
})
