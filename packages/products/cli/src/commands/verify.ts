import { readFileSync } from 'node:fs'
import { command } from '../command.ts'
import { usage } from '../exit.ts'
import { moment } from '../output/words.ts'
import { verifyPost } from './verify-post.ts'

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
    out.record({ valid: true, deliveryId: id, sentAt, notes }, [
      ['signature', 'valid'],
      ['delivery', id],
      ['sent', moment(sentAt)],
    ])
    for (const note of notes) out.note(note)
  },
})
