import { newCallId } from '@switchhook/contracts'
import { AriUnavailable } from './ari-client.ts'
import { type CarryOutDeps, carryOut } from './carry-out.ts'
import { MARK_VARIABLE } from './channel-mark.ts'

/** Records the variables that are set and the events that are subscribed to. The connection is cut before request `cutAt`. */
function asterisk(cutAt: number) {
  const done: string[] = []
  const deps: CarryOutDeps = {
    ari: {
      request: async (_method, _path, query) => {
        if (done.length === cutAt) throw new AriUnavailable('cut')
        done.push(query?.['variable'] ?? query?.['eventSource'] ?? '')
        return { status: 204, body: undefined }
      },
      manager: async () => ({ text: '', cookie: null }),
      close: async () => {},
    },
    app: 'test',
    ringSeconds: 2,
    talk: async () => {},
    lines: { channelOf: async () => null },
    endpointOf: () => null,
    shownAs: () => '',
    cliOf: () => '',
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
