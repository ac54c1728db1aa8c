import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The Jest processes that run every test. The longest begin first, and short ones fill the lanes at the end. */
const RUNS = [
  ['e2e'],
  ['own-stack'],
  ['unit'],
  ['browser'],
  ['it', '--shard=1/4'],
  ['it', '--shard=2/4'],
  ['it', '--shard=3/4'],
  ['it', '--shard=4/4'],
]
/** Most tests wait for other processes, so three files can share two cores. */
const LANES = 3

const root = join(import.meta.dirname, '../..')
// The tests start some hundred processes of Node, which share their compiled code.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node')
const jest = join(root, 'node_modules/jest/bin/jest.js')
const reporters = ['./tests/jest/progress.mjs', 'summary', './tests/jest/closing-line.mjs']

/** A run that ends without a result, such as one whose infrastructure does not start, counts as one failure. */
async function run([project, ...more]) {
  const options = ['--selectProjects', project, '--maxWorkers=1', ...reporters.map((name) => `--reporters=${name}`)]
  const child = spawn(process.execPath, [jest, ...options, ...more], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let result
  child.on('message', (message) => {
    result = message
  })
  const [code] = await once(child, 'close')
  const failed = result?.failed ?? 0
  return { passed: result?.passed ?? 0, failed: code === 0 ? failed : Math.max(1, failed) }
}

/**
 * A lane takes the next run when its own has ended. Each run has a RabbitMQ and a Redis of its own, and runs one file at a
 * time: some tests raise an alarm on the broker, fill Redis, or kill parts of the stack.
 */
async function lane() {
  const results = []
  for (let next = RUNS.shift(); next !== undefined; next = RUNS.shift()) results.push(await run(next))
  return results
}

const results = (await Promise.all(Array.from({ length: LANES }, lane))).flat()
const sum = (name) => results.reduce((total, result) => total + result[name], 0)
process.stderr.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
process.exitCode = sum('failed') > 0 ? 1 : 0
