import { setTimeout as wait } from 'node:timers/promises'
import { SignInFailed, SwitchhookError } from '@switchhook/client'
import { type Context, command } from '../command.ts'
import {
  type Diagnosis,
  judgeClock,
  judgeEndpoints,
  judgeFailure,
  judgeRole,
  judgeStream,
  judgeTls,
  ok,
  skipped,
} from '../doctor/judge.ts'
import { CliError, Exit, usage } from '../failure.ts'
import { countOf, take } from '../options.ts'
import { toneOf } from '../output/words.ts'

/** The API sends its place first, and after 15 s without another message. */
const FIRST_WITHIN_MS = 2_000
const SECOND_WITHIN_MS = 16_000
const MAX_ENDPOINTS = 1_000
const ROLES = ['viewer', 'operator', 'admin']

export const doctor = command({
  name: 'doctor',
  summary: 'diagnose address, certificate, clock, sign-in, role, live stream, endpoints; takes 16 s',
  options: [
    ['--needs <role>', 'required role (default viewer)'],
    [
      '--patience <factor>',
      `multiplies the limits of ${FIRST_WITHIN_MS / 1_000} s and ${SECOND_WITHIN_MS / 1_000} s for the stream`,
    ],
  ],
  run: async (context, _args, { needs = 'viewer', patience = '1' }) => {
    if (!ROLES.includes(needs)) throw usage(`The roles are ${ROLES.join(', ')}.`)
    const all = await examine(context, needs, countOf(patience, '--patience'))
    const { out } = context
    out.list(all, [
      { title: 'CHECK', of: ({ check }) => check },
      { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => toneOf(state) },
      { title: 'SEEN', of: ({ seen }) => seen },
    ])
    const findings = all.flatMap(({ check, repair }) => (repair === null ? [] : [`${check}: ${repair}`]))
    if (findings.length > 0) throw new CliError(Exit.finding, findings.join('\n'))
  },
})

async function examine(context: Context, needs: string, patience: number): Promise<readonly Diagnosis[]> {
  const { client, session, out, connection, env } = context
  const tls = judgeTls(session.url, env)
  out.progress('Asking who you are …')
  let me
  try {
    me = await client.me.read()
  } catch (error) {
    const status = error instanceof SwitchhookError ? error.status : error instanceof SignInFailed ? 401 : undefined
    const found = judgeFailure(error, status)
    const rest = (['stream', 'endpoint'] as const).map((check) => skipped(check, 'needs a signed-in caller'))
    return [tls, judgeClock(connection.clockOffsetMs()), found, ...rest]
  }
  if (me.features.journal) out.progress('Watching the live stream for 16 s …')
  const [stream, endpoints] = await Promise.all([
    me.features.journal ? examineStream(context, patience) : skipped('stream', 'this installation has none'),
    take(client.subscriptions.summary({ limit: 100 }), MAX_ENDPOINTS),
  ])
  return [
    ok('address', session.url),
    tls,
    judgeClock(connection.clockOffsetMs()),
    ok('sign-in', me.subject),
    judgeRole(me, needs),
    stream,
    ...judgeEndpoints(endpoints),
  ]
}

/** Opens the live stream and notes when bytes arrive. @param patience multiplies the limits, for slow networks */
async function examineStream({ session, connection }: Context, patience: number): Promise<Diagnosis> {
  const token = await session.auth?.()
  const address = `${session.url.replace(/(\/api\/v1)?\/*$/i, '')}/api/v1/webhooks/stream`
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const closing = new AbortController()
  const open = async () => {
    const response = await connection.fetch(address, { headers, signal: closing.signal })
    if (!response.ok) throw new CliError(Exit.noAnswer, `The live stream answered ${response.status}.`)
    return response.body?.getReader()
  }
  const beganMs = performance.now()
  const sinceMs = (): number => Math.round(performance.now() - beganMs)
  const firstLimitMs = FIRST_WITHIN_MS * patience
  try {
    const reader = await within(open(), firstLimitMs)
    // A proxy that gives up cuts the connection, which rejects.
    const read = async (): Promise<boolean> => (await reader?.read().catch(() => undefined))?.done === false
    if (!(await within(read(), firstLimitMs - sinceMs())))
      return judgeStream({ firstMs: undefined, secondMs: undefined, hasEnded: false })
    const firstMs = sinceMs()
    const second = await within(read(), SECOND_WITHIN_MS * patience)
    return judgeStream({ firstMs, secondMs: second ? sinceMs() : undefined, hasEnded: second === false })
  } finally {
    closing.abort()
  }
}

/** Undefined if it takes longer: that is what the doctor looks for. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  // The losing side may fail later, when the connection is closed.
  work.catch(() => undefined)
  const late = wait(Math.max(ms, 0), undefined, { ref: false })
  // oxlint-disable-next-line no-restricted-properties -- a late answer is the finding, not a failure to wait for one
  return Promise.race([work, late])
}
