import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/**
 * Runs every test in two lanes side by side, each a Jest process with a RabbitMQ and a Redis of its own. Within a lane, one
 * file runs at a time: some tests raise an alarm on the broker, fill Redis, or kill parts of the stack. Most tests wait for
 * other processes, so two lanes take little more time than the longer one.
 */
const LANES = [
  ['unit', 'it'],
  ['e2e', 'browser'],
]

const root = join(import.meta.dirname, '../..')
const jest = join(root, 'node_modules/jest/bin/jest.js')
const reporters = ['./tests/jest/progress.mjs', 'summary', './tests/jest/closing-line.mjs']

/** A lane that ends without a result, such as one whose infrastructure does not start, counts as one failure. */
async function run(projects) {
  const options = ['--selectProjects', ...projects, '--maxWorkers=1', ...reporters.map((name) => `--reporters=${name}`)]
  const lane = spawn(process.execPath, [jest, ...options], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let result
  lane.on('message', (message) => {
    result = message
  })
  const [code] = await once(lane, 'close')
  const failed = result?.failed ?? 0
  return { passed: result?.passed ?? 0, failed: code === 0 ? failed : Math.max(1, failed) }
}

const results = await Promise.all(LANES.map(run))
const sum = (name) => results.reduce((total, result) => total + result[name], 0)
process.stderr.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
process.exitCode = sum('failed') > 0 ? 1 : 0
