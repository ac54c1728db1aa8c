import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Combination, runHelm } from '@switchhook/chart'

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The Secrets whose content Helm looks up in the cluster, so that another content rolls the pods out. */
async function lookedUp(combination: Combination, overrides: readonly string[] = []): Promise<unknown> {
  return (await inCluster({}, combination, overrides)).asked
}

/** Renders the chart in a cluster with these Secrets. */
async function inCluster(secrets: Secrets, combination: Combination, overrides: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-cluster-'))
  const cluster = spawn(process.execPath, [join(import.meta.dirname, 'stub-cluster.ts')], {
    env: { PATH: process.env['PATH'], SECRETS: JSON.stringify(secrets) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(cluster.stdout, 'data')) as [Buffer]
    const url = String(line).trim()
    const file = join(folder, 'kubeconfig')
    const config = {
      'current-context': 'stub',
      clusters: [{ name: 'stub', cluster: { server: url } }],
      contexts: [{ name: 'stub', context: { cluster: 'stub', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
    }
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
    // Fails after the templates are executed, because this cluster knows no schema.
    const { stderr } = runHelm(
      ['template', 'switchhook', '--dry-run=server', `--kubeconfig=${file}`],
      combination,
      overrides,
    )
    return { stderr, asked: await (await fetch(`${url}/asked`)).json() }
  } finally {
    cluster.kill()
    rmSync(folder, { recursive: true })
  }
}

describe('a checksum covers the Secrets that exist before the first installation', () => {
  test.each<[Combination, readonly string[], readonly string[]]>([
    // Not `rabbitmq-default-user`, which the operator creates.
    ['production', [], ['rabbitmq-users', 'redis', 'webhook-secret-keys']],
    // All use the one user, which the operator creates.
    ['production', ['rabbitmq.usersSecret='], ['redis', 'webhook-secret-keys']],
    ['production', ['rabbitmq.usersSecret=', 'rabbitmq.userSecret=broker'], ['broker', 'redis', 'webhook-secret-keys']],
    ['external', [], ['private-ca', 'rabbitmq', 'redis', 'webhook-secret-keys']],
    ['tls', [], ['rabbitmq-tls', 'rabbitmq-users', 'redis', 'redis-tls', 'webhook-secret-keys']],
    ['asterisk', [], ['asterisk', 'private-ca', 'rabbitmq-users', 'redis', 'webhook-secret-keys']],
    // The chart creates all of them.
    ['development', [], []],
  ])('%s %j', async (combination, overrides, names) => {
    expect(await lookedUp(combination, overrides)).toEqual(names)
  })
})

describe('a password that its readers would read differently ends the command before an object changes', () => {
  const overrides = ['rabbitmq.userSecret=broker']
  const [redis, broker] = [{ password: 'a"sé c\\ret#' }, { username: 'me', password: 'it is a secret' }]

  test.each([
    ['redis', 'password', 'secret\n'],
    ['redis', 'password', ' secret'],
    ['redis', 'password', '\uFEFFsecret'],
    ['redis', 'password', 'secret\uFEFF'],
    // No-break and ideographic spaces, which the services leave out as well.
    ['redis', 'password', 'secret\u00A0'],
    ['broker', 'password', '\u3000secret'],
    ['broker', 'password', 'secret\nwritten\n'],
    ['broker', 'username', 'secret\r'],
    // Of KEDA; the services and the users' job leave the white space out.
    ['rabbitmq-users', 'monitor', 'secret\n'],
  ])('%s, %s: %j', async (name, key, value) => {
    const secrets = { redis, broker, [name]: { ...{ redis, broker }[name], [key]: value } }
    const { stderr } = await inCluster(secrets, 'production', overrides)
    expect(stderr).toContain(`the key ${key} of the Secret ${name} must be one line`)
    expect(stderr.includes('delete pod redis-0')).toBe(name === 'redis')
    expect(stderr).not.toMatch(/secret\b/)
  })

  test.each(['username', 'password'])('%s of an external RabbitMQ, which KEDA reads', async (key) => {
    const rabbitmq = { url: 'amqps://broker', username: 'me', password: 'it is a secret', [key]: 'secret\n' }
    const keda = await inCluster({ rabbitmq }, 'external')
    expect(keda.stderr).toContain(`the key ${key} of the Secret rabbitmq must be one line`)
    const cpu = await inCluster({ rabbitmq }, 'external', ['deliveryWorker.autoscaling.mode=cpu'])
    expect(cpu.stderr).not.toContain('must be one line')
  })

  test('quotes, backslashes, blanks and letters of any language are taken', async () => {
    const { stderr } = await inCluster({ redis, broker }, 'production', overrides)
    expect(stderr).not.toContain('must be one line')
  })
})
