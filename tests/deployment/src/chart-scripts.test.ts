import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { managementEnvironment } from '@switchhook/testkit'
import { mountConfigMap } from './mounted-scripts.ts'
import type { Round } from './stub-network.ts'

const folders: string[] = []
const folderOf = (path: string): string => {
  folders.push(path)
  return path
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Runs a mounted script as the program of its container, with a network that answers as the rounds say. */
function run(script: string, args: readonly string[], rounds: readonly Round[], env: NodeJS.ProcessEnv = {}) {
  const stub = join(import.meta.dirname, 'stub-network.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [`--import=${stub}`, script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env, NETWORK: JSON.stringify(rounds) },
    // A script that waits for ever fails its test: a wait takes no time here, so it would hear no other signal.
    timeout: 30_000,
    killSignal: 'SIGKILL',
  })
  const [said = '', slept = ''] = stderr.split(/^slept (?=\d+ s$)/m)
  return { status, lines: stdout.trimEnd().split('\n'), said: said.trimEnd(), slept: slept.trimEnd() }
}

describe('wait-for-rollout', () => {
  const script = join(folderOf(mountConfigMap('rollout', 'production')), 'wait-for-rollout.mjs')
  const file = join(folderOf(mkdtempSync(join(tmpdir(), 'switchhook-order-'))), 'order.json')
  const orderOf = (api: string) =>
    writeFileSync(file, JSON.stringify({ versions: { api, fanout: 'v2' }, waitFor: { api: ['fanout'], fanout: [] } }))
  const runFor = (service: string, ...rounds: NonNullable<Round['names']>[]) =>
    run(
      script,
      [file, service, 'v2'],
      rounds.map((names) => ({ names })),
    )
  const waitFor = (...rounds: NonNullable<Round['names']>[]) => runFor('api', ...rounds)
  beforeEach(() => orderOf('v2'))
  const done = 'all pods of fanout run this version'
  const waiting = (count: number) => `waiting: ${count} pods of fanout run another version`

  test('waits until the last pod of another version has ended', () => {
    const { status, lines, slept } = waitFor(
      { 'fanout-pods': ['10.0.0.1', '10.0.0.2'] },
      { 'fanout-pods': ['10.0.0.1', '10.0.0.2', '10.0.0.3'], 'fanout-v2': ['10.0.0.3'] },
      { 'fanout-pods': ['10.0.0.2', '10.0.0.3', '10.0.0.4'], 'fanout-v2': ['10.0.0.3', '10.0.0.4'] },
      { 'fanout-pods': ['10.0.0.3', '10.0.0.4'], 'fanout-v2': ['10.0.0.3', '10.0.0.4'] },
    )
    expect({ status, lines, slept }).toEqual({
      status: 0,
      lines: [waiting(2), waiting(2), waiting(1), done],
      slept: '6 s',
    })
  })

  test('starts immediately if no pod runs, as in a new installation', () => {
    expect(waitFor({})).toMatchObject({ status: 0, lines: [done], slept: '0 s' })
  })

  test('waits until its node has the order of its release', async () => {
    orderOf('v1')
    const child = spawn(process.execPath, [script, file, 'api', 'v2'], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [said] = (await once(child.stdout, 'data')) as [Buffer]
      expect(String(said)).toBe('waiting: this node does not have the order of this release yet\n')
      writeFileSync(file, JSON.stringify({ versions: { api: 'v2' }, waitFor: { api: [] } }))
      expect(await once(child, 'exit')).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })

  test.each<[string, NonNullable<Round['names']>[], number]>([
    ['its Service is gone', [{}], 120],
    ['its node knew its Service at first', [{}, { 'api-v2': ['10.0.0.1'] }, {}], 122],
    ['DNS did not answer at first', [{}, { 'api-v2': 'EAI_AGAIN' }, {}], 122],
  ])('a pod of a version that a later release replaces starts again if %s', (_, rounds, seconds) => {
    orderOf('v3')
    const { status, lines, slept } = waitFor(...rounds)
    expect({ status, slept }).toEqual({ status: 0, slept: `${seconds} s` })
    expect(lines.at(-1)).toBe('a later release replaces that of this pod: it waits for none')
  })

  test('a service that goes first waits for none', () => {
    expect(runFor('fanout', { 'fanout-pods': ['10.0.0.1'] })).toMatchObject({ status: 0, lines: [''], slept: '0 s' })
  })

  test('waits while DNS does not answer, because old pods may run', () => {
    const { lines } = waitFor(
      { 'fanout-pods': 'EAI_AGAIN' },
      { 'fanout-pods': ['10.0.0.1'], 'fanout-v2': ['10.0.0.1'] },
    )
    expect(lines).toEqual(['waiting: the pods of fanout cannot be looked up (EAI_AGAIN)', done])
  })
})

describe('the smoke test of `helm test`', () => {
  const script = join(folderOf(mountConfigMap('helm-test', 'production')), 'smoke-test.mjs')
  const services = ['api', 'fanout', 'delivery-worker']
  const working = {
    names: Object.fromEntries(services.map((name) => [`${name}-pods`, ['10.0.0.1', 'fd00::1']])),
    urls: {
      'http://api/api/v1/openapi.json': 200,
      'http://api/api/v1/webhooks/subscriptions': 401,
      'http://10.0.0.1:9100/readyz': 200,
      'http://[fd00::1]:9100/readyz': 200,
    },
  }

  test('finds nothing wrong with an installation that works', () => {
    expect(run(script, [], [working])).toMatchObject({ status: 0, lines: ['the installation works'], slept: '0 s' })
  })

  test('waits until the network plug-in knows its pod', () => {
    const unknown = { names: Object.fromEntries(services.map((name) => [`${name}-pods`, 'EAI_AGAIN'])) }
    const { status, lines, slept } = run(script, [], [unknown, unknown, working])
    expect({ status, lines, slept }).toEqual({ status: 0, lines: ['the installation works'], slept: '4 s' })
  })

  test('names what is wrong after a minute', () => {
    const broken = {
      names: { ...working.names, 'delivery-worker-pods': 'ENOTFOUND' },
      urls: { ...working.urls, 'http://api/api/v1/webhooks/subscriptions': 200, 'http://[fd00::1]:9100/readyz': 503 },
    }
    const { status, lines, slept } = run(script, [], [broken])
    expect({ status, slept }).toEqual({ status: 1, slept: '60 s' })
    expect(lines).toEqual([
      'the api asks for a token: http://api/api/v1/webhooks/subscriptions answers 200, expected 401',
      'api is ready: http://[fd00::1]:9100/readyz answers 503, expected 200',
      'fanout is ready: http://[fd00::1]:9100/readyz answers 503, expected 200',
      'delivery-worker has no pod (ENOTFOUND)',
    ])
  })
})

describe('the scripts of a backup', () => {
  const scripts = folderOf(mountConfigMap('backup', 'backup'))
  const fakes = folderOf(mkdtempSync(join(tmpdir(), 'switchhook-fakes-')))
  let copies: string
  beforeEach(() => {
    copies = folderOf(mkdtempSync(join(tmpdir(), 'switchhook-copies-')))
    rmSync(fakes, { recursive: true })
    mkdirSync(fakes)
  })

  const fake = (name: string, body: string): void =>
    writeFileSync(join(fakes, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })

  /** Runs backup.sh with a Redis that refuses the first connections, and without time. Resolves to what it did. */
  function backUpRedis(refused: number) {
    fake('sleep', `echo "slept $1" >>"${fakes}/log"`)
    fake('redis-check-rdb', '')
    fake(
      'redis-cli',
      `for argument; do last=$argument; done
case " $* " in
*" --rdb "*) echo "part \${last##*/}" >>"${fakes}/log"; echo copy >"$last" ;;
*) echo asked >>"${fakes}/log"; [ "$(grep -c asked "${fakes}/log")" -gt ${refused} ] && echo aaaa-1 ;;
esac`,
    )
    const { status, stderr } = spawnSync('sh', [join(scripts, 'backup.sh')], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${fakes}:${process.env['PATH']}`, BACKUP_DIR: copies },
    })
    return { status, stderr, log: readFileSync(join(fakes, 'log'), 'utf8').trimEnd().split('\n') }
  }
  const backUpDefinitions = (rounds: readonly Round[]) =>
    run(join(scripts, 'backup-definitions.mjs'), [], rounds, {
      BACKUP_DIR: copies,
      ...managementEnvironment('http://user:password@rabbitmq:15672'),
    })
  const url = 'http://rabbitmq:15672/api/definitions'

  test('both wait until the network plug-in knows their pod', () => {
    const { status, log } = backUpRedis(2)
    expect([status, log.filter((line) => line.startsWith('slept'))]).toEqual([0, ['slept 2', 'slept 2']])
    expect(backUpDefinitions([{}, {}, { urls: { [url]: 200 } }])).toMatchObject({ status: 0, slept: '4 s' })
    expect(readdirSync(copies).map((name) => name.replace(/\d{8}T\d{6}/, 'time'))).toEqual([
      'definitions-timeZ.json',
      'redis-aaaa-1-timeZ.rdb',
    ])
  })

  test('both give up after a minute', () => {
    const { status, stderr, log } = backUpRedis(1_000)
    expect(status).toBe(1)
    expect(stderr).toContain('backup failed: Redis does not answer at 127.0.0.1:6379')
    expect(log.filter((line) => line === 'slept 2')).toHaveLength(29)
    expect(backUpDefinitions([{}])).toMatchObject({
      status: 1,
      slept: '60 s',
      said: `backup failed: RabbitMQ does not answer at ${url} (ECONNREFUSED)`,
    })
  })

  test('no two processes write to the same file, each being process 1 of its container', () => {
    const parts = [1, 2].map(() => backUpRedis(0).log.findLast((line) => line.startsWith('part ')))
    expect(new Set(parts).size).toBe(2)
    expect(parts).toEqual([1, 2].map(() => expect.stringMatching(/^part \.part-redis-\w{6}$/)))
    // Of a process of the previous version.
    writeFileSync(join(copies, '.part-1'), 'being written')
    expect(backUpDefinitions([{ urls: { [url]: 200 } }]).status).toBe(0)
    expect(readdirSync(copies).filter((name) => name.startsWith('.'))).toEqual(['.part-1'])
  })

  test('what a killed process has left is removed, and what another one writes is not', () => {
    for (const name of ['.part-redis-a', '.part-definitions-b', '.part-redis-c']) writeFileSync(join(copies, name), '')
    const threeHoursAgo = Date.now() / 1_000 - 3 * 3_600
    for (const name of ['.part-redis-a', '.part-definitions-b']) utimesSync(join(copies, name), 0, threeHoursAgo)
    backUpRedis(0)
    expect(readdirSync(copies).filter((name) => name.startsWith('.'))).toEqual(['.part-redis-c'])
  })

  test('subfolders are not read, because one of another user would fail the backup', () => {
    mkdirSync(join(copies, 'lost+found'))
    const part = join(copies, 'lost+found', '.part-redis-a')
    writeFileSync(part, '')
    utimesSync(part, 0, Date.now() / 1_000 - 3 * 3_600)
    expect(backUpRedis(0).status).toBe(0)
    expect(readdirSync(join(copies, 'lost+found'))).toEqual(['.part-redis-a'])
  })
})

describe('the users of RabbitMQ', () => {
  const scripts = folderOf(mountConfigMap('rabbitmq-users', 'production'))
  const users = join(scripts, 'users.json')
  const names = Object.keys(JSON.parse(readFileSync(users, 'utf8')) as object).map((name) => `switchhook-${name}`)

  function createUsers(rounds: readonly Round[], passwordOf: (name: string) => string = () => 'secret') {
    const passwords = folderOf(mkdtempSync(join(tmpdir(), 'switchhook-passwords-')))
    for (const name of names) writeFileSync(join(passwords, name.replace('switchhook-', '')), passwordOf(name))
    return run(join(scripts, 'create-users.mjs'), [], rounds, {
      ...managementEnvironment('http://user:password@rabbitmq:15672'),
      USERS: users,
      PASSWORDS: passwords,
    })
  }
  const paths = names.flatMap((name) => [`users/${name}`, `permissions/%2F/${name}`])
  const urlsWith = (status: number) =>
    Object.fromEntries(paths.map((path) => [`http://rabbitmq:15672/api/${path}`, status]))

  test('are created as soon as RabbitMQ answers and knows its administrator', () => {
    const { status, lines, slept } = createUsers([{}, { urls: urlsWith(401) }, { urls: urlsWith(201) }])
    expect({ status, lines, slept }).toEqual({ status: 0, lines: names, slept: '4 s' })
  })

  test('need a password each', () => {
    const { status, said } = createUsers([{ urls: urlsWith(201) }], (name) =>
      name.endsWith('fanout') ? '\n' : 'secret',
    )
    expect(status).toBe(1)
    expect(said).toContain('the password is empty: switchhook-fanout')
  })
})
