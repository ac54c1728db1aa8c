import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/**
 * Runs every test in three lanes side by side, each a sequence of Jest processes with a RabbitMQ and a Redis of their own.
 * Within a lane, one file runs at a time: some tests raise an alarm on the broker, fill Redis, or kill parts of the stack.
 * Most tests wait for other processes, so the lanes take little more time than the longest one.
 */
const LANES = [[['e2e']], [['it', '--shard=1/2'], ['unit']], [['it', '--shard=2/2'], ['browser']]]

const root = join(import.meta.dirname, '../..')
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

async function runInTurn(lane) {
  const results = []
  for (const each of lane) results.push(await run(each))
  return results
}

const results = (await Promise.all(LANES.map(runInTurn))).flat()
const sum = (name) => results.reduce((total, result) => total + result[name], 0)
process.stderr.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
process.exitCode = sum('failed') > 0 ? 1 : 0
