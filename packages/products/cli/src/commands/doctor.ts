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
import { FIRST_WITHIN_MS, SECOND_WITHIN_MS, watchStream } from '../doctor/watch-stream.ts'
import { CliError, Exit, usage } from '../exit.ts'
import { countOf } from '../output/read-time.ts'
import { toneOf } from '../output/words.ts'
import { take } from '../take.ts'

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

async function examineStream({ session, connection }: Context, patience: number): Promise<Diagnosis> {
  const token = await session.auth?.()
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const timing = await watchStream(async (signal) => {
    const address = `${session.url.replace(/(\/api\/v1)?\/*$/i, '')}/api/v1/webhooks/stream`
    const response = await connection.fetch(address, { headers, signal })
    if (!response.ok) throw new CliError(Exit.noAnswer, `The live stream answered ${response.status}.`)
    return response
  }, patience)
  return judgeStream(timing)
}
