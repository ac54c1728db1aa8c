import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { command } from '../command.ts'
import { CliError, Exit, usage } from '../failure.ts'
import { moment } from '../output/words.ts'

export const verify = command({
  name: 'verify',
  summary: 'verify a stored webhook: a file with the headers, an empty line, and the body as it arrived',
  args: [['<file>', 'the file; the secret comes from stdin or SWITCHHOOK_WEBHOOK_SECRET']],
  run: async ({ env, out, readInput }, [file = '']) => {
    let bytes: Buffer
    try {
      bytes = readFileSync(file)
    } catch (error) {
      throw usage(`${file} cannot be read (${(error as Error).message}).`)
    }
    const secret = (env['SWITCHHOOK_WEBHOOK_SECRET'] || (await readInput('Signing secret: '))).trim()
    const { id, sentAtMs, notes } = verifyPost(bytes, secret.split(/[\s,]+/), Date.now())
    const sentAt = new Date(sentAtMs).toISOString()
    out.record(
      { valid: true, deliveryId: id, sentAt, notes },
      { signature: 'valid', delivery: id, sent: moment(sentAt) },
    )
    for (const note of notes) out.note(note)
  },
})

/** Receivers refuse an older timestamp as a replay. */
const REPLAY_MS = 5 * 60_000
const invalid = (reason: string): CliError => new CliError(Exit.finding, reason)

/**
 * Verifies a stored POST as Standard Webhooks describes; its library refuses old timestamps.
 * @param file the headers, an empty line, and the body as it arrived; a request line may come first
 * @throws CliError if it is not valid
 */
export function verifyPost(file: Buffer, secrets: readonly string[], nowMs: number) {
  const end = /\r?\n\r?\n/.exec(file.toString('latin1'))
  if (end === null) throw invalid('The file has no empty line between the headers and the body.')
  const headers = headersIn(file.subarray(0, end.index).toString())
  const body = file.subarray(end.index + end[0].length)
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headers.get(name),
  )
  if (!id || !timestamp || !signatures) {
    throw invalid(
      'The headers webhook-id, webhook-timestamp and webhook-signature must be in the file: the sender did not sign, or a proxy removed them.',
    )
  }
  if (!/^\d{1,12}$/.test(timestamp)) throw invalid(`webhook-timestamp is "${timestamp}", not seconds since 1970.`)
  const keys = secrets.map(keyOf)
  const given = signatures.split(' ')
  const isSigned = (bytes: Buffer): boolean =>
    keys.some((key) => {
      const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(bytes)
      return given.includes(`v1,${signed.digest('base64')}`)
    })
  const sentAtMs = Number(timestamp) * 1_000
  const isOld = Math.abs(nowMs - sentAtMs) > REPLAY_MS
  const notes = isOld ? ['It is more than 5 minutes old: a receiver would refuse it now, as a replay.'] : []
  if (isSigned(body)) return { id, sentAtMs, notes }
  // Editors end a file with a line break.
  const trimmed = Buffer.from(body.toString('latin1').replace(/\r?\n$/, ''), 'latin1')
  if (!isSigned(trimmed)) {
    throw invalid(
      'The signature does not match: the secret belongs to another subscription or is outdated, or the body was changed, for example parsed and written again.',
    )
  }
  return { id, sentAtMs, notes: [...notes, 'The line break at the end of the file is not part of the body.'] }
}

const headersIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, name, value = ''] = /^([\w-]+):(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name.toLowerCase(), value.trim()] as const]
    }),
  )

/** 24 to 64 bytes (Standard Webhooks). A missing character makes another Base64. @throws CliError for another text */
function keyOf(secret: string): Buffer {
  const text = secret.replace(/^whsec_/, '')
  const key = Buffer.from(text, 'base64')
  const isWhole = text !== secret && key.toString('base64') === text
  if (isWhole && key.length >= 24 && key.length <= 64) return key
  throw invalid(
    'A secret is "whsec_" and Base64, as the answer to its creation or rotation showed it: check it for a typo.',
  )
}
