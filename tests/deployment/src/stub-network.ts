import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

/** Answers of the network: addresses or an error code for each name, a status or an error code for each URL. */
export interface Round {
  readonly names?: Readonly<Record<string, readonly string[] | string>>
  readonly urls?: Readonly<Record<string, number | string>>
}

// Preloaded into a script under test. NETWORK has the rounds: each sleep of the script begins the next one, and the last
// one stays. Time passes only in sleeps; the exit prints how long they were.
const rounds = JSON.parse(process.env['NETWORK'] ?? '[]') as readonly Round[]
const startedAtMs = Date.now()
let round = 0
let sleptMs = 0
const now = (): Round => rounds[Math.min(round, rounds.length - 1)] ?? {}
const failure = (code: string): Error => Object.assign(new Error(code), { code })

Date.now = () => startedAtMs + sleptMs
const lookup = async (name: string) => {
  const answer = now().names?.[name] ?? 'ENOTFOUND'
  if (typeof answer === 'string') throw failure(answer)
  return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}
const sleep = async (ms: number): Promise<void> => {
  round += 1
  sleptMs += ms
}
Object.assign(dns, { lookup })
Object.assign(timers, { setTimeout: sleep })
syncBuiltinESMExports()
globalThis.fetch = async (input) => {
  const url = input instanceof Request ? input.url : input.toString()
  const answer = now().urls?.[url] ?? 'ECONNREFUSED'
  if (typeof answer === 'string') throw new TypeError('fetch failed', { cause: failure(answer) })
  return new Response('{"queues":[]}', { status: answer })
}
// As in a container.
Object.defineProperty(process, 'pid', { value: 1 })
process.on('exit', () => process.stderr.write(`slept ${sleptMs / 1_000} s\n`))
