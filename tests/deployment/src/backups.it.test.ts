import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { renderObjects } from '@switchhook/chart'
import {
  canStartRedis,
  managementEnvironment,
  type RedisServer,
  type RedisServers,
  redisServers,
} from '@switchhook/testkit'
import { mountConfigMap } from './mounted-scripts.ts'
import type { Container } from './workloads.ts'

const files = join(import.meta.dirname, '../../../infra/helm/switchhook/files')
const INSTALLATION = 'aaaaaaaa-0000-4000-8000-000000000000'
const PASSWORD = 'a password'

interface Outcome {
  readonly code: number
  readonly said: string
  readonly complaint: string
}

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { env: { ...process.env, ...env } })
    return { code: 0, said: stdout.trim(), complaint: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, said: stdout.trim(), complaint: stderr }
  }
}

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'switchhook-backup-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

if (!canStartRedis()) process.stderr.write('NOT TESTED: backups of Redis (redis-server is not installed)\n')

;(canStartRedis() ? describe : describe.skip)('Redis', () => {
  let servers: RedisServers
  let server: RedisServer
  const cli = (...args: string[]): Promise<string> => servers.cli('-p', String(server.port), ...args)
  const backup = (env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
    run('sh', [join(files, 'backup.sh')], {
      BACKUP_DIR: join(folder, 'copies'),
      REDIS_PORT: String(server.port),
      ...env,
    })
  const restore = (copy: string, data: string): Promise<Outcome> => run('sh', [join(files, 'restore.sh'), copy, data])
  const copies = (): readonly string[] => readdirSync(join(folder, 'copies')).toSorted()

  beforeEach(async () => {
    servers = redisServers()
    // Without the delay, a copy takes milliseconds instead of five seconds.
    server = await servers.start('--repl-diskless-sync-delay', '0')
    await cli('hset', 'sh:installation', 'own', `${INSTALLATION} 1795336765000`)
    await cli('set', 'before', 'kept')
  })
  afterEach(() => servers.close())

  test('a restore returns to the moment of the backup, with the append-only file on, and keeps the data it replaces', async () => {
    const { code, said: copy } = await backup()
    expect(code).toBe(0)
    expect(copy).toMatch(new RegExp(`/copies/redis-${INSTALLATION}-\\d{8}T\\d{6}Z\\.rdb$`))
    await cli('set', 'after', 'lost')
    const [, data = ''] = (await cli('config', 'get', 'dir')).split('\n')
    await server.kill()

    const restored = await restore(copy, data)
    expect(restored).toMatchObject({ code: 0, said: expect.stringContaining(`restored installation ${INSTALLATION}`) })
    await server.start()
    expect((await cli('mget', 'before', 'after')).trim()).toBe('kept')
    expect(await cli('config', 'get', 'appendonly')).toContain('yes')
    const [previous = ''] = readdirSync(data).filter((name) => name.startsWith('before-restore-'))
    expect(existsSync(join(data, previous, 'appendonlydir'))).toBe(true)

    // The restored data is in the append-only file: it survives a crash.
    await server.kill()
    await server.start()
    expect((await cli('get', 'before')).trim()).toBe('kept')
  })

  test('the copies of the scheduled job can be restored, also if three of its jobs run at the same moment', async () => {
    const scripts = mountConfigMap('backup', 'backup')
    const volume = join(folder, 'volume')
    mkdirSync(volume)
    const here: NodeJS.ProcessEnv = {
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(server.port),
      ...managementEnvironment(process.env['TEST_MANAGEMENT_URL'] ?? ''),
    }
    const start = ({ command: [program = '', ...args] = [], env = [] }: Container): Promise<Outcome> => {
      const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]))
      expect(given).toContainEqual(['BACKUP_DIR', '/backups'])
      return run(
        program,
        args.map((arg) => arg.replace('/scripts', scripts)),
        {
          ...Object.fromEntries(given),
          ...here,
          BACKUP_DIR: volume,
        },
      )
    }
    const job = renderObjects('backup').find(({ kind }) => kind === 'CronJob')?.['spec'] as {
      jobTemplate: { spec: { template: { spec: { containers: readonly Container[] } } } }
    }
    const { containers } = job.jobTemplate.spec.template.spec
    const outcomes = await Promise.all([...containers, ...containers, ...containers].map(start))
    rmSync(scripts, { recursive: true })
    expect(outcomes.map(({ code, complaint }) => [code, complaint.includes('failed')])).toEqual(
      outcomes.map(() => [0, false]),
    )
    const names = readdirSync(volume)
    expect(new Set(outcomes.map(({ said }) => said)).size).toBe(outcomes.length)
    expect(names).toHaveLength(outcomes.length)
    expect(names.filter((name) => !/^(redis|definitions)-.*Z\.(rdb|json)$/.test(name))).toEqual([])
    for (const name of names.filter((one) => one.endsWith('.json')))
      expect(JSON.parse(readFileSync(join(volume, name), 'utf8'))).toMatchObject({ queues: expect.any(Array) })

    const [, data = ''] = (await cli('config', 'get', 'dir')).split('\n')
    await server.kill()
    for (const copy of names.filter((one) => one.endsWith('.rdb'))) {
      rmSync(data, { recursive: true })
      mkdirSync(data)
      expect(await restore(join(volume, copy), data)).toMatchObject({ code: 0 })
      await server.start()
      expect((await cli('get', 'before')).trim()).toBe('kept')
      await server.kill()
    }
  })

  test('only the newest copies of this installation are kept', async () => {
    expect((await backup()).code).toBe(0)
    const other = 'redis-bbbbbbbb-0000-4000-8000-000000000000-20260101T000000Z.rdb'
    const older = `redis-${INSTALLATION}-20260101T000000Z.rdb`
    for (const name of [other, older]) writeFileSync(join(folder, 'copies', name), '')
    expect((await backup({ BACKUP_KEEP: '1' })).code).toBe(0)
    expect(copies()).toHaveLength(2)
    expect(copies()).toContain(other)
    expect(copies()).not.toContain(older)
  })

  test('a backup that fails leaves as many copies as are kept, so that a full volume gets room again', async () => {
    mkdirSync(join(folder, 'volume'))
    symlinkSync(join(folder, 'volume'), join(folder, 'copies'))
    const days = ['01', '02', '03', '04', '05'].map((day) => `redis-${INSTALLATION}-202601${day}T000000Z.rdb`)
    for (const name of days) writeFileSync(join(folder, 'copies', name), '')
    await cli('acl', 'setuser', 'default', '-sync', '-psync')
    expect((await backup({ BACKUP_KEEP: '0' })).complaint).toContain('BACKUP_KEEP must be 1 or more')
    expect(copies()).toEqual(days)
    expect(await backup({ BACKUP_KEEP: '3' })).toMatchObject({
      code: 1,
      complaint: expect.stringContaining('backup failed: Redis did not send its data'),
    })
    expect(copies()).toEqual(days.slice(2))
  })

  test('a Redis without an installation and a wrong password are errors and leave no file', async () => {
    const refused = { code: 1, complaint: expect.stringContaining('backup failed: no installation id in this Redis') }
    await cli('rename', 'sh:installation', 'elsewhere')
    expect(await backup()).toMatchObject(refused)
    await cli('rename', 'elsewhere', 'sh:installation')
    await cli('config', 'set', 'requirepass', PASSWORD)
    expect(await backup({ REDISCLI_AUTH: 'wrong' })).toMatchObject(refused)
    expect(existsSync(join(folder, 'copies'))).toBe(false)
    expect((await backup({ REDISCLI_AUTH: PASSWORD })).code).toBe(0)
    expect((await backup({ BACKUP_DIR: '' })).complaint).toContain('BACKUP_DIR')
  })

  test('a damaged copy is refused and changes nothing', async () => {
    const { said: copy } = await backup()
    writeFileSync(copy, readFileSync(copy).subarray(0, 100))
    const data = mkdtempSync(join(folder, 'data-'))
    writeFileSync(join(data, 'dump.rdb'), 'present')
    expect(await restore(copy, data)).toMatchObject({ code: 1, complaint: expect.stringContaining('is damaged') })
    expect(readFileSync(join(data, 'dump.rdb'), 'utf8')).toBe('present')
    expect((await restore(join(folder, 'nothing.rdb'), data)).complaint).toContain('is missing or empty')
  })
})

describe('RabbitMQ', () => {
  const backup = (env: NodeJS.ProcessEnv): Promise<Outcome> =>
    run(process.execPath, [join(files, 'backup-definitions.mjs')], { BACKUP_DIR: folder, ...env })
  const login = managementEnvironment(process.env['TEST_MANAGEMENT_URL'] ?? '')

  test('the definitions are saved, and only the newest copies are kept', async () => {
    writeFileSync(join(folder, 'definitions-20260101T000000Z.json'), '{}')
    const { code, said } = await backup({ ...login, BACKUP_KEEP: '1' })
    expect(code).toBe(0)
    expect(JSON.parse(readFileSync(said, 'utf8'))).toMatchObject({
      queues: expect.any(Array),
      users: expect.any(Array),
    })
    expect(readdirSync(folder)).toHaveLength(1)
  })

  test('a refused user and a wrong address are errors without the password', async () => {
    const refused = await backup({ ...login, MANAGEMENT_PASSWORD: 'wrong' })
    expect(refused).toMatchObject({ code: 1, complaint: expect.stringContaining('RabbitMQ answered 401') })
    expect(refused.complaint).not.toContain('wrong')
    expect((await backup({ MANAGEMENT_URL: '' })).complaint).toContain('MANAGEMENT_URL must be')
    expect(readdirSync(folder)).toEqual([])
  })
})
