import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Exit } from './exit.ts'
import { readInput } from './read-input.ts'
import { run } from './run.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string
}

process.on('SIGINT', () => process.exit(Exit.interrupted))
// A reader such as head has seen enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? Exit.ok : Exit.finding))

const { env, stdout, stderr } = process
process.exitCode = await run(process.argv.slice(2), { env, stdout, stderr, readInput, version })
