import { type CpuProfile, fileOf, sharesOf } from './cpu-profile.ts'

const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url },
  children,
})

/** A sample each millisecond, from 1 ms on. */
const profileOf = (samples: number[]): CpuProfile => ({
  nodes: [
    node(1, '(root)', '', [2, 3, 4, 5, 8]),
    node(2, '(idle)', ''),
    node(3, '(garbage collector)', ''),
    node(4, '(program)', ''),
    node(5, 'onStreamRead', 'node:internal/stream_base_commons', [6]),
    node(6, 'accept', 'file:///repo/node_modules/.pnpm/amqplib@1/node_modules/amqplib/lib/mux.js', [7]),
    node(7, 'writeGeneric', 'node:net', [9]),
    node(8, 'deliver', 'file:///repo/services/delivery-worker/dist/pipeline/deliver.js'),
    node(9, 'writev', ''),
  ],
  startTime: 0,
  samples,
  timeDeltas: samples.map(() => 1_000),
})

test('samples are counted by part; code of Node belongs to its caller, and idle samples count nowhere', () => {
  const shares = sharesOf(profileOf([2, 3, 4, 5, 6, 7, 9, 8, 8]), 0, 1_000_000)
  expect(Object.fromEntries(shares)).toEqual({
    'garbage collection': 1,
    'Node outside of JavaScript': 1,
    'Node: sockets': 1,
    amqplib: 2,
    'amqplib: write system calls': 1,
    'services/delivery-worker/pipeline': 2,
  })
})

test('only samples between the two times count', () => {
  expect(Object.fromEntries(sharesOf(profileOf([8, 8, 8, 8]), 1_500, 3_500))).toEqual({
    'services/delivery-worker/pipeline': 2,
  })
})

test.each([
  ['file:///r/node_modules/.pnpm/@a+b@1/node_modules/@a/b/x.js', '@a/b'],
  ['file:///r/packages/store/dist/redis/redis.js', 'packages/store'],
  ['file:///r/services/api/dist/main.js', 'services/api'],
  ['file:///r/tools/bench/dist/processes/durable-loop.js', 'tools/bench'],
  ['file:///elsewhere/x.js', 'other'],
])('%s belongs to %s', (url, part) => expect(fileOf(url)).toBe(part))
