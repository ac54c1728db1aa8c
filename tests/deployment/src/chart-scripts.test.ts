import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { repository } from '@switchhook/chart'

const script = (name: string): string => pathToFileURL(join(repository, 'infra/helm/switchhook/files', name)).href

/** Runs ES module code, which Jest cannot import, in a process of its own; returns what it prints as JSON. */
function run(code: string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('wait-for-rollout', () => {
  /** Answers of DNS in each round: the addresses of each name, or an error code. The last round repeats. */
  type Round = Readonly<Record<string, readonly string[] | string>>

  const logOf = (rounds: readonly Round[]) =>
    run(`
      import { waitForRollout } from '${script('wait-for-rollout.mjs')}'
      const rounds = ${JSON.stringify(rounds)}
      let round = 0
      const resolve = async (name) => {
        const answer = rounds[Math.min(round, rounds.length - 1)][name] ?? 'ENOTFOUND'
        if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer })
        return answer.map((address) => ({ address, family: 4 }))
      }
      const log = []
      await waitForRollout([{ service: 'fanout', version: 'v2' }], {
        resolve,
        sleep: async () => { round += 1 },
        log: (message) => log.push(message),
      })
      process.stdout.write(JSON.stringify(log))
    `)
  const done = 'all pods of fanout run this version'
  const waiting = (count: number) => `waiting: ${count} pods of fanout run another version`

  test('waits until the last pod of another version has ended', () => {
    const log = logOf([
      { 'fanout-pods': ['10.0.0.1', '10.0.0.2'] },
      { 'fanout-pods': ['10.0.0.1', '10.0.0.2', '10.0.0.3'], 'fanout-v2': ['10.0.0.3'] },
      { 'fanout-pods': ['10.0.0.2', '10.0.0.3', '10.0.0.4'], 'fanout-v2': ['10.0.0.3', '10.0.0.4'] },
      { 'fanout-pods': ['10.0.0.3', '10.0.0.4'], 'fanout-v2': ['10.0.0.3', '10.0.0.4'] },
    ])
    expect(log).toEqual([waiting(2), waiting(2), waiting(1), done])
  })

  test('starts at once if no pod runs, as in a new installation', () => {
    expect(logOf([{}])).toEqual([done])
  })

  test('waits while DNS does not answer, because old pods may run', () => {
    const log = logOf([{ 'fanout-pods': 'EAI_AGAIN' }, { 'fanout-pods': ['10.0.0.1'], 'fanout-v2': ['10.0.0.1'] }])
    expect(log).toEqual(['waiting: the pods of fanout cannot be looked up (EAI_AGAIN)', done])
  })
})

describe('the smoke test of `helm test`', () => {
  const problemsWith = (statuses: Readonly<Record<string, number>>, missing: readonly string[] = []) =>
    run(`
      import { findProblems } from '${script('smoke-test.mjs')}'
      const statuses = ${JSON.stringify(statuses)}
      const missing = ${JSON.stringify(missing)}
      const problems = await findProblems({
        request: async (url) => ({ status: statuses[url] ?? (url.endsWith('/subscriptions') ? 401 : 200) }),
        resolve: async (name) => {
          if (missing.includes(name)) throw Object.assign(new Error(), { code: 'ENOTFOUND' })
          return [{ address: '10.0.0.1', family: 4 }, { address: 'fd00::1', family: 6 }]
        },
      })
      process.stdout.write(JSON.stringify(problems))
    `)

  test('finds nothing wrong with an installation that works', () => {
    expect(problemsWith({})).toEqual([])
  })

  test('names what is wrong', () => {
    const problems = problemsWith(
      { 'http://api/api/v1/webhooks/subscriptions': 200, 'http://[fd00::1]:9100/readyz': 503 },
      ['delivery-worker-pods'],
    )
    expect(problems).toEqual([
      'the api asks for a token: http://api/api/v1/webhooks/subscriptions answers 200, expected 401',
      'api is ready: http://[fd00::1]:9100/readyz answers 503, expected 200',
      'fanout is ready: http://[fd00::1]:9100/readyz answers 503, expected 200',
      'delivery-worker has no pod (ENOTFOUND)',
    ])
  })
})
