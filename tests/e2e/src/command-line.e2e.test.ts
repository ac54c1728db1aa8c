import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { publishEvent } from './client.ts'
import { readStack } from './stack.ts'
import { newUser, removeUsers, type Switchhook } from './switchhook.ts'

afterAll(removeUsers)

const ALICE = 'sip:e2e-180@acme.example'
const BOB = 'sip:e2e-181@acme.example'
/** For what other processes do meanwhile. */
const PATIENT = { timeoutMs: 60_000 }

// Each command is a process of its own.
jest.setTimeout(240_000)

const api = (): string => readStack().urls.apis[0]
const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** A user who has signed in as the application of acme. */
async function application(url = api()): Promise<Switchhook> {
  const user = newUser()
  const args = ['login', url, '--organization', 'acme', '--client-id', 'acme-app', '--secret-stdin']
  expect(await user.run(args, 'acme-secret\n')).toMatchObject({ code: 0 })
  return user
}

async function endpoint(...script: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...script)
  open.push(receiver)
  return receiver
}

/** Follows the pages of the identity provider as a browser does, and signs in with the password. */
async function browse(address: string, name: string): Promise<void> {
  const cookies = new Map<string, string>()
  const get = async (url: string, body?: URLSearchParams): Promise<{ readonly url: string; readonly text: string }> => {
    const cookie = [...cookies].map(([key, value]) => `${key}=${value}`).join('; ')
    const init = { redirect: 'manual', headers: { cookie }, ...(body && { method: 'POST', body }) } as const
    const response = await fetch(url, init)
    for (const line of response.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(key, value)
    }
    const location = response.headers.get('location')
    const text = await response.text()
    return location === null ? { url, text } : get(new URL(location, url).href)
  }
  let page = await get(address)
  for (;;) {
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.text) ?? []
    if (action === undefined) return
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const code = /name="user_code"/.test(page.text) ? /value="([^"]+)" type="text"/.exec(page.text)?.[1] : undefined
    const form = new URLSearchParams(hidden.map(([, field = '', value = '']): [string, string] => [field, value]))
    if (code !== undefined) form.set('user_code', code)
    if (page.text.includes('type="password"')) for (const field of ['name', 'password']) form.set(field, name)
    page = await get(new URL(action, page.url).href, form)
  }
}

/** Signs a person in. */
async function person(name: string, url = api(), ...more: string[]): Promise<Switchhook> {
  const user = newUser()
  const login = user.start(['login', url, '--organization', 'acme', ...more])
  const [address = ''] = await eventually(() => {
    const found = /http:\/\/\S+/.exec(login.output().stderr)
    if (found === null) throw new Error(`no address yet: ${login.output().stderr}`)
    return found
  }, PATIENT)
  await browse(address, name)
  expect(await login.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`subject\t${name}`) })
  return user
}

test.each([
  ['this machine', []],
  ['another device', ['--device']],
])('a person signs in with a browser on %s, and has the role of the person', async (_name, more) => {
  const user = await person('acme-viewer', api(), ...more)
  expect((await user.run(['agents', 'list', '--limit', '1'])).code).toBe(0)
  const { code, stderr } = await user.run(['calls', 'dial', ALICE, '+15550100'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('operator')])
  expect((await user.run(['logout'])).code).toBe(0)
  expect((await user.run(['agents', 'list'])).code).toBe(2)
})

test('an organization has to be named, and to exist', async () => {
  const user = newUser()
  expect(await user.run(['login', api()])).toMatchObject({ code: 2, stderr: expect.stringContaining('acme, globex') })
  const unknown = await user.run(['login', api(), '--organization', 'initech'])
  expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('No organization initech') })
})

test('a call is dialled, commanded, followed and explained', async () => {
  const user = await application()
  const receiver = await endpoint()
  const created = await user.json<Schemas['CreatedSubscription']>([
    'subscriptions',
    'create',
    receiver.url('/hook'),
    '--types',
    'call.status',
  ])
  const { callId } = await user.json<Schemas['CommandAccepted']>(['calls', 'dial', ALICE, '+15550100'])
  const tail = user.start(['events', 'tail', '--call', callId, '--since', '5m', '--json'])
  const states = (): number[] =>
    tail
      .output()
      .stdout.split('\n')
      .flatMap((line) =>
        line.includes('"type":"event"') ? [JSON.parse(line) as { event: { data: { state: number } } }] : [],
      )
      .map(({ event }) => event.data.state)
  await eventually(() => expect(states().toSorted((a, b) => a - b)).toEqual([1, 3, 8]), PATIENT)

  const command = async (...args: string[]) => expect(await user.run(['calls', ...args])).toMatchObject({ code: 0 })
  await command('hold', callId)
  await eventually(() => expect(states()).toContain(4), PATIENT)
  expect(await user.run(['calls', 'answer', callId])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Possible now: '),
  })
  await command('resume', callId)
  await eventually(() => expect(states().filter((state) => state === 3)).toHaveLength(2), PATIENT)
  await command('transfer', callId, BOB, '--blind')
  await eventually(
    async () => expect((await user.run(['calls', 'answer', callId, '--agent', BOB])).code).toBe(0),
    PATIENT,
  )
  await eventually(() => expect(states()).toContain(7), PATIENT)
  await eventually(async () => {
    const { stdout } = await user.run(['calls', 'list', '--live', '--agent', BOB])
    expect(stdout).toContain(`${callId}\t${BOB}\tconnected`)
  }, PATIENT)
  await command('hangup', callId, '--agent', BOB)
  tail.kill('SIGINT')
  expect((await tail.ended).code).toBe(130)

  const explained = await user.run(['explain', `see ${callId} in the log`])
  expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining(`delivered  ${receiver.url('/hook')}`) })

  const [{ headers, body } = { headers: {}, body: '' }] = await receiver.waitFor(1)
  const file = join(user.config, 'post.http')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  writeFileSync(file, `${lines.join('\r\n')}\r\n\r\n${body.toString()}`)
  expect(await user.run(['verify', file], created.secret)).toMatchObject({ code: 0 })
  expect(await user.run(['verify', file], 'whsec_typo')).toMatchObject({ code: 1 })
  expect((await user.run(['subscriptions', 'delete', created.id])).code).toBe(0)
  expect((await user.run(['subscriptions', 'show', created.id])).code).toBe(4)
})

test('a parked delivery is found, shown, sent again and recovered', async () => {
  const user = await application()
  const receiver = await endpoint({ status: 410, body: 'gone \u001b[2J' })
  const { id } = await user.json<Schemas['CreatedSubscription']>([
    'subscriptions',
    'create',
    receiver.url('/'),
    '--types',
    'agent.status',
  ])
  expect((await user.run(['agents', 'presence', ALICE, '66', '--message', 'lunch', '--until', '1h'])).stdout).toContain(
    '66 Lunch',
  )
  const parked = await eventually(async () => {
    const found = await user.json<Schemas['DeliverySummary'][]>([
      'deliveries',
      'list',
      '--state',
      'parked',
      '--subscription',
      id,
    ])
    // Also of other agents, whose after-call work ends meanwhile.
    expect(found.length).toBeGreaterThan(0)
    return found[0]?.deliveryId ?? ''
  }, PATIENT)
  const shown = await user.run(['deliveries', 'show', parked])
  expect(shown.stdout).toContain('parked: rejected')
  expect(shown.stdout).toMatch(/\t410\t\d+\tgone {1,2}\[2J/)
  expect((await user.run(['recover', id, '--dry-run'])).stdout).toMatch(/^deliveries\t[1-9]/m)
  expect((await user.run(['explain', id])).stdout).toMatch(/^parked\t[1-9]/m)

  const again = await user.run(['recover', id, '--watch'])
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/[1-9] deliveries were parked since it began/)])
  receiver.answer('/', { status: 204 })
  const recovered = await user.run(['recover', id, '--watch'])
  expect(recovered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state\tdone$/m) })
  expect((await user.run(['redeliver', parked])).code).toBe(0)
  expect((await user.run(['trigger', 'test', id])).code).toBe(0)
  await receiver.waitFor(4, '/', PATIENT)
  const checked = await user.run(['check', id])
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('forged-signature\tfailed')])
  const off = await user.run(['subscriptions', 'change', id, '--disable'])
  expect([off.code, off.stdout]).toEqual([0, expect.stringMatching(/^state\tdisabled$/m)])
  await user.run(['agents', 'presence', ALICE, '2'])
})

test('an agent is rung from outside', async () => {
  const user = await application()
  const { callId } = await user.json<Schemas['SimulatedCallRinging']>([
    'trigger',
    'call',
    '--to',
    BOB,
    '--from',
    '+15557000',
  ])
  await eventually(async () => expect((await user.run(['calls', 'answer', callId])).code).toBe(0), PATIENT)
  await eventually(async () => expect((await user.run(['calls', 'hangup', callId])).code).toBe(0), PATIENT)
})

/** A proxy in front of the api that holds the live stream back, and has another clock. */
async function badProxy(): Promise<string> {
  const target = new URL(api())
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const sent = forward({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      if (path?.endsWith('/stream')) return void answer.resume()
      const date = new Date(Date.now() - 3_600_000).toUTCString()
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, date })
      answer.pipe(response)
    })
    response.on('close', () => sent.destroy())
    sent.on('error', () => response.destroy())
    incoming.pipe(sent)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  open.push({
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('doctor', () => {
  test('finds a wrong clock, a missing role, a proxy that buffers the stream and a failing endpoint, each with its repair', async () => {
    const admin = await application()
    const receiver = await endpoint({ status: 503 })
    const { id } = await admin.json<Schemas['CreatedSubscription']>([
      'subscriptions',
      'create',
      receiver.url('/'),
      '--types',
      'call.status',
    ])
    expect((await admin.run(['trigger', 'test', id])).code).toBe(0)
    await receiver.waitFor(1, '/', PATIENT)
    await eventually(async () => expect((await admin.run(['explain', id])).stdout).toMatch(/failing since\t2/), PATIENT)

    const user = await person('acme-viewer', await badProxy())
    const { code, stdout, stderr } = await user.run(['doctor', '--needs', 'operator'])
    expect(code).toBe(1)
    const checks = ['clock', 'role', 'stream', 'endpoint']
    for (const check of checks) expect(stdout).toMatch(new RegExp(`^${check}\tfinding\t`, 'm'))
    expect(stdout).toMatch(/^sign-in\tok\t/m)
    expect(stderr).toMatch(/^clock: The clock of this machine is 36\d\d s ahead of the server's: set it by NTP\.$/m)
    for (const repair of [
      'role: Give this person or application the role operator',
      'stream: A proxy in front of Switchhook holds the stream back: turn off response buffering',
      `endpoint: See what it gets wrong with "switchhook check ${id}", and repair it.`,
    ]) {
      expect(stderr).toContain(repair)
    }
    await admin.run(['subscriptions', 'delete', id])
  })

  test('finds nothing wrong with the way to a healthy installation', async () => {
    const user = await application()
    // The limits are those of a healthy network; this machine may be busy.
    const examined = user.start(['doctor', '--needs', 'admin', '--patience', '20'])
    // An event is the second message of the stream, so the doctor need not wait for the one of a quiet stream.
    await eventually(
      async () => {
        await publishEvent()
        expect(examined.output().stdout).toContain('stream')
      },
      { ...PATIENT, intervalMs: 500 },
    )
    const { stdout } = await examined.ended
    for (const check of ['address', 'clock', 'sign-in', 'role', 'stream']) {
      expect(stdout).toMatch(new RegExp(`^${check}\tok\t`, 'm'))
    }
  })
})
