import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'

const parts = (project, count) => Array.from({ length: count }, (_, n) => [project, `--shard=${n + 1}/${count}`])

/**
 * The Jest processes whose tests share the machine. The longest begin first, and short ones fill the lanes at the end. Each
 * part starts a RabbitMQ, which takes five seconds of processor time.
 */
const RUNS = [...parts('e2e', 2), ...parts('it', 3), ['browser'], ['unit']]
/** Tests wait for other processes two thirds of their time, so three files can share a core. */
const LANES_PER_CORE = 3
/** Jest, its servers and the services that it starts. */
const LANE_BYTES = 2 ** 30
const LANES = Math.max(
  2,
  Math.min(LANES_PER_CORE * availableParallelism(), Math.floor(process.availableMemory() / LANE_BYTES)),
)
/** As many failed files run again, alone. If more have failed, it is not for want of processor time. */
const MOST_RUN_AGAIN = 3

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
  return {
    project,
    passed: result?.passed ?? 0,
    failed: code === 0 && result !== undefined ? failed : Math.max(1, failed),
    files: result?.files ?? [],
  }
}

/**
 * Runs the failed files once more, with nothing beside them. Resolves to how many tests fail again. A test that passes now
 * needs a quieter machine than it says, or has found a race, so the report ends with its file.
 */
async function runAgain(results) {
  const failed = results.filter((result) => result.failed > 0)
  const files = failed.flatMap((result) => result.files)
  if (files.length > MOST_RUN_AGAIN || failed.some((result) => result.files.length === 0)) return sum(failed, 'failed')
  const again = []
  for (const { project, files } of failed) again.push(await run([project, '--runTestsByPath', ...files]))
  const names = files.map((file) => `  ${relative(root, file)}\n`).join('')
  process.stderr.write(names && `\nFailed beside other tests, so they ran again, alone:\n${names}`)
  return sum(again, 'failed')
}

const sum = (results, name) => results.reduce((total, result) => total + result[name], 0)

/**
 * A lane takes the next run when its own has ended. Each run has a RabbitMQ and a Redis of its own, and runs one file at a
 * time: some tests raise an alarm on the broker, fill Redis, or kill parts of the stack.
 */
async function lane() {
  const results = []
  for (let next = RUNS.shift(); next !== undefined; next = RUNS.shift()) results.push(await run(next))
  return results
}

/** Lanes that install the same servers side by side would wait for each other, and could start one that is half installed. */
async function install() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { BackingUnavailable, installServers, missingDocker } = await import('../../tools/test-servers/dist/index.js')
  const { AMQP_URL, REDIS_URL } = process.env
  if ((AMQP_URL && REDIS_URL) || (await missingDocker()) === undefined) return
  try {
    await installServers(['rabbitmq', 'redis'], (line) => process.stderr.write(`${line}\n`))
  } catch (error) {
    // The runs that need them fail, and say what to do.
    if (!(error instanceof BackingUnavailable)) throw error
  }
}

await install()
const results = (await Promise.all(Array.from({ length: LANES }, lane))).flat()
const failed = await runAgain(results)
const passed = sum(results, 'passed') + sum(results, 'failed') - failed
process.stderr.write(`\n${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : 0
