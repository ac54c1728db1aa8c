import { readFileSync } from 'node:fs'
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Exit } from './failure.ts'
import { run } from './run.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string
}

// Node's default of 250 ms for each address is less than a lost SYN takes.
setDefaultAutoSelectFamilyAttemptTimeout(2_500)

process.on('SIGINT', () => process.exit(Exit.interrupted))
// A reader such as head has seen enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? Exit.ok : Exit.finding))
// Without a reader of progress and advice, the results go on.
process.stderr.on('error', () => {})

const { env, stdout, stderr } = process
process.exitCode = await run(process.argv.slice(2), { env, stdout, stderr, readInput, version })

/** Reads a secret: all of a pipe, or a line of a terminal, which does not show it. */
async function readInput(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin)
  process.stderr.write(prompt)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
