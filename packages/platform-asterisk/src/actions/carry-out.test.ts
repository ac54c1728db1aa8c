import { newCallId } from '@switchhook/contracts'
import { AriUnavailable } from '../ari/ari-client.ts'
import { MARK_VARIABLE } from '../ari/channel-mark.ts'
import { type CarryOutDeps, carryOut } from './carry-out.ts'

/**
 * Records the variables that are read and set, and the events that are subscribed to. The connection is cut before request `cutAt`.
 * @param joins the status of each answer to `addChannel`
 * @param told the status of the answer to `dial`, `ring`, `answer` and `moh`. A channel has no variables.
 * @param state of every channel
 */
function asterisk(cutAt: number, joins: number[] = [], told = 204, state = 'Down') {
  const done: string[] = []
  const deps: CarryOutDeps = {
    ari: {
      request: async (method, path, query) => {
        if (done.length === cutAt) throw new AriUnavailable('cut')
        done.push(query?.['variable'] ?? query?.['eventSource'] ?? '')
        if (path.endsWith('/addChannel')) return { status: joins.shift() ?? 204, body: undefined }
        if (method === 'GET' && !path.endsWith('/variable')) return { status: 200, body: { state } }
        const isTold = /\/(dial|ring|answer|moh)$/.test(path)
        return { status: method === 'GET' ? 404 : isTold ? told : 204, body: undefined }
      },
      manager: async () => ({ text: '', cookie: null }),
      close: async () => {},
    },
    app: 'test',
    ringSeconds: 2,
    talk: async () => {},
    lines: { channelOf: async () => undefined },
    endpointOf: () => null,
    shownAs: () => ({ number: '', isWithheld: false }),
  }
  return { deps, done }
}

const claim = (deps: CarryOutDeps) =>
  carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, { kind: 'claim', channelId: 'trunk' })

test('a claim subscribes to the end of the channel, leaves its transfers to us, and marks it', async () => {
  const { deps, done } = asterisk(Number.POSITIVE_INFINITY)
  await claim(deps)
  expect(done.toSorted()).toEqual(['PJSIP_TRANSFER_HANDLING()', MARK_VARIABLE, 'channel:trunk'])
})

test.each([0, 1, 2])('a claim that ends after %i requests leaves the channel unmarked', async (cutAt) => {
  const { deps, done } = asterisk(cutAt)
  await expect(claim(deps)).rejects.toThrow(AriUnavailable)
  expect(done).toHaveLength(cutAt)
  expect(done).not.toContain(MARK_VARIABLE)
})

test.each([
  [204, ['SH_DIALLED', '', 'SH_DIALLED']],
  [404, ['SH_DIALLED', '']],
])('a channel is dialled: Asterisk answers %i', async (status, requests) => {
  const { deps, done } = asterisk(Number.POSITIVE_INFINITY, [], status)
  await carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, { kind: 'dial', channelId: 'a' })
  expect(done).toEqual(requests)
})

test('a channel that Asterisk refuses to dial is not marked as dialled, so it is dialled again', async () => {
  const { deps, done } = asterisk(Number.POSITIVE_INFINITY, [], 409)
  const dial = carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, { kind: 'dial', channelId: 'a' })
  await expect(dial).rejects.toThrow('Asterisk answered 409 to the dialling of a channel')
  expect(done).toEqual(['SH_DIALLED', '', ''])
})

test.each(['Ringing', 'Up'])(
  'a channel that Asterisk refuses to dial because it is %s already is marked as dialled',
  async (state) => {
    const { deps, done } = asterisk(Number.POSITIVE_INFINITY, [], 409, state)
    await carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, { kind: 'dial', channelId: 'a' })
    expect(done).toEqual(['SH_DIALLED', '', '', 'SH_DIALLED'])
  },
)

test.each([true, false])('a line is lent as Asterisk has it: on hold at the phone %s', async (isHeldAtPhone) => {
  const { deps } = asterisk(Number.POSITIVE_INFINITY)
  const party = { kind: 'agent', agentUri: 'sip:alice@acme.example', device: null } as const
  const lent = await carryOut(
    {
      ...deps,
      lines: { channelOf: async () => 'line' },
      ari: { ...deps.ari, request: async () => ({ status: 200, body: { value: isHeldAtPhone ? '1' : '0' } }) },
    },
    { tenant: 'acme', sessionId: newCallId() },
    { kind: 'create', channelId: 'a', party, shows: party, originator: null, autoAnswer: false },
  )
  expect(lent).toMatchObject({ kind: 'line-lent', lineId: 'line', isHeldAtPhone })
})

describe.each(['ring', 'answer'] as const)('the request to %s a channel', (kind) => {
  const tell = (status: number) => {
    const { deps } = asterisk(Number.POSITIVE_INFINITY, [], status)
    return carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, { kind, channelId: 'a' })
  }

  test.each([204, 404])('is done with when Asterisk answers %i', async (status) => {
    await expect(tell(status)).resolves.toBeUndefined()
  })

  test.each([409, 412, 500])('does not count as told when Asterisk answers %i', async (status) => {
    await expect(tell(status)).rejects.toThrow(`Asterisk answered ${status} to ${kind}`)
  })
})

describe('a move into a bridge', () => {
  const move = (joins: number[]) => {
    const { deps } = asterisk(Number.POSITIVE_INFINITY, joins)
    const action = { kind: 'move', channelIds: ['a', 'c'], bridge: 'call', waits: false } as const
    return carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, action)
  }

  test.each([404, 500])('whose music Asterisk refuses with %i moves nobody, so it is repeated', async (status) => {
    const joins = [204]
    const { deps } = asterisk(Number.POSITIVE_INFINITY, joins, status)
    const action = { kind: 'move', channelIds: ['a'], bridge: 'call-h', waits: true } as const
    const moved = carryOut(deps, { tenant: 'acme', sessionId: newCallId() }, action)
    await expect(moved).rejects.toThrow(`Asterisk answered ${status} to music in a bridge`)
    expect(joins).toHaveLength(1)
  })

  test.each([[[204]], [[400, 204, 400]]])('that Asterisk answers with %j is done', async (joins) => {
    await expect(move(joins)).resolves.toBeUndefined()
  })

  test.each([
    ['there is no bridge', [404, 404, 404]],
    ['the bridge is not ours', [409, 409, 409]],
    ['one channel is not in our application', [422, 204, 422]],
  ])('that Asterisk refuses because %s is not done', async (_reason, joins) => {
    await expect(move(joins)).rejects.toThrow(/Asterisk answered 4\d\d to a move into a bridge/)
  })
})
