import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@switchhook/testkit'
import { type CallStatus, type Desk, openDesk, states } from './desk.ts'
import { bringDown, bringUp, end, readStack } from './stack.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@globex.example'
const START_WITHIN_MS = 120_000
const RECOVERS_WITHIN_MS = 60_000

const missing = process.env['ASTERISK_MISSING']
const describeStack = missing === undefined ? describe : describe.skip

describeStack(`a stack with a real Asterisk${missing === undefined ? '' : ` (${missing})`}`, () => {
  let home: string
  let acme: Desk
  let globex: Desk

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'switchhook-asterisk-'))
    const settings = { PLATFORM: 'asterisk', API_PORT: '0', DEV_IDP_PORT: '0', REPLICAS_API: '2', REPLICAS_WORKER: '1' }
    Object.assign(process.env, { SWITCHHOOK_HOME: home, WRAP_UP_SECONDS: '0', RATE_LIMIT: 'off', ...settings })
    await bringUp()
    acme = await openDesk('acme')
    globex = await openDesk('globex')
  }, START_WITHIN_MS)
  afterAll(async () => {
    await acme?.close()
    await globex?.close()
    await bringDown()
    rmSync(home, { recursive: true, force: true })
  }, START_WITHIN_MS)

  const inState = (state: number) => (latest: CallStatus) => latest.state === state

  /** Steers a phone or an outside party. */
  async function steer<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
    const response = await fetch(`${readStack().urls.telephones}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  const callState = (desk: Desk, agentUri: string) => desk.client.api.agents.callState(agentUri)

  /** A customer calls the agent. Resolves to the call, and the customer's end of it. */
  async function customerCalls(desk: Desk, agentUri: string, number: string): Promise<[callId: string, far: string]> {
    const { id } = await steer<{ id: string }>('POST', '/calls', { number, from: '+15559000' })
    const callId = await eventually(async () => {
      const [call] = (await callState(desk, agentUri)).calls
      if (call === undefined) throw new Error('the call does not ring yet')
      return call.callId
    })
    await desk.until(callId, agentUri, inState(2))
    return [callId, id]
  }

  test('a customer calls, the agent answers by command, holds and resumes, and the customer hangs up', async () => {
    const [callId, far] = await customerCalls(acme, ALICE, '8101')
    for (const [command, state] of [
      ['answer', 3],
      ['hold', 4],
      ['resume', 3],
    ] as const) {
      await acme.command(`${callId}/${command}`, { agentUri: ALICE })
      await acme.until(callId, ALICE, inState(state))
    }
    await steer('DELETE', `/calls/${far}`)
    expect(await acme.until(callId, ALICE, inState(7))).toMatchObject({ endReason: 1, endedBy: 2 })
    expect(states(acme.leg(callId, ALICE))).toEqual([2, 3, 4, 3, 7])
    expect(globex.leg(callId, ALICE)).toEqual([])
  })

  test('an agent dials; the call is transferred to a colleague whose phone is called again to answer', async () => {
    const callId = await acme.client.dial(ALICE, '+15550100')
    await acme.until(callId, ALICE, inState(3))
    await acme.command(`${callId}/transfer`, { agentUri: ALICE, transferTarget: '8102', blind: true })
    await acme.until(callId, BOB, inState(2))
    await acme.command(`${callId}/answer`, { agentUri: BOB })
    await acme.until(callId, BOB, inState(3))
    expect(await acme.until(callId, ALICE, inState(7))).toMatchObject({ endReason: 9 })
    await steer('POST', '/phones/bob/hangup')
    expect(await acme.until(callId, BOB, inState(7))).toMatchObject({ endReason: 1, endedBy: 1, commandId: null })
  })

  test('an agent whose phone cannot be answered by a command answers at the phone', async () => {
    const [callId, far] = await customerCalls(globex, CAROL, '8201')
    expect(await globex.refused(`${callId}/answer`, { agentUri: CAROL })).toMatchObject({
      status: 409,
      code: 'remote-answer-unsupported',
      currentState: 2,
      allowedCommands: ['hangup'],
    })
    await steer('POST', '/phones/carol/answer')
    await globex.until(callId, CAROL, inState(3))
    await steer('DELETE', `/calls/${far}`)
    await globex.until(callId, CAROL, inState(7))
  })

  test('a phone that loses its registration makes the device unavailable, and a dial is refused', async () => {
    await steer('POST', '/phones/bob/unplug')
    const isOffline = ({ code }: { readonly code: string }): boolean => code === 'agent-device-unavailable'
    await eventually(async () => {
      const deviceStatus = acme.agent(BOB).at(-1)?.['deviceStatus']
      expect(deviceStatus).toBe(5)
    })
    expect(isOffline(await acme.refused('dial', { agentUri: BOB, destination: '+15550100' }))).toBe(true)
    await steer('POST', '/phones/bob/plug')
    await eventually(() => expect(acme.agent(BOB).at(-1)?.['deviceStatus']).toBe(1))
  })

  test(
    'each api replica dies once during a call: the call goes on, and ends once',
    async () => {
      const [callId, far] = await customerCalls(acme, ALICE, '8101')
      await acme.command(`${callId}/answer`, { agentUri: ALICE })
      await acme.until(callId, ALICE, inState(3))
      for (const replica of ['api-1', 'api-2']) {
        await end(replica, 'SIGKILL')
        await bringUp()
      }
      await steer('DELETE', `/calls/${far}`)
      await eventually(() => expect(acme.leg(callId, ALICE).at(-1)).toMatchObject({ state: 7 }), {
        timeoutMs: RECOVERS_WITHIN_MS,
      })
      expect(states(acme.leg(callId, ALICE))).toEqual([2, 3, 7])
    },
    3 * RECOVERS_WITHIN_MS,
  )

  test(
    'Asterisk is killed during a call: the leg ends once with reason 12, and the phones work again',
    async () => {
      const [callId] = await customerCalls(acme, ALICE, '8101')
      await acme.command(`${callId}/answer`, { agentUri: ALICE })
      await acme.until(callId, ALICE, inState(3))
      await end('asterisk', 'SIGKILL')
      await bringUp()
      await eventually(() => expect(acme.leg(callId, ALICE).at(-1)).toMatchObject({ state: 7, endReason: 12 }), {
        timeoutMs: RECOVERS_WITHIN_MS,
      })
      expect(states(acme.leg(callId, ALICE))).toEqual([2, 3, 7])
      await eventually(() => steer('GET', '/'), { timeoutMs: RECOVERS_WITHIN_MS })
      const [next, far] = await customerCalls(acme, ALICE, '8101')
      await steer('DELETE', `/calls/${far}`)
      await acme.until(next, ALICE, inState(7))
    },
    3 * RECOVERS_WITHIN_MS,
  )

  test('no phone and no outside party is left in a call', async () => {
    interface Telephones {
      readonly phones: readonly { readonly calls: readonly unknown[] }[]
      readonly outside: readonly unknown[]
    }
    await eventually(async () => {
      const { phones, outside } = await steer<Telephones>('GET', '/')
      expect([outside, ...phones.map(({ calls }) => calls)]).toEqual([[], [], [], []])
    })
  })
})
