import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onEndOfMake, repository } from '@switchhook/test-servers'
import { HomeInUse, holdHome } from './stack/hold-home.ts'

/**
 * `make up`, `make down` and `make demo`, one at a time, the build included: two builds at once break each other. This file
 * runs from its source.
 */
const COMMANDS: Readonly<Record<string, { readonly place: string; readonly builds: boolean }>> = {
  up: { place: 'stack', builds: true },
  down: { place: 'stack', builds: false },
  demo: { place: 'demo', builds: true },
}

/** The program below. */
let child: ChildProcess | undefined
const forward = (signal: NodeJS.Signals): boolean | undefined => child?.kill(signal)

// A terminal sends it to the program below as well, which then ends.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, forward)
// What is said to a closed terminal is lost.
process.stderr.on('error', () => {})

async function run(program: string, args: readonly string[]): Promise<boolean> {
  // With the flags of this make, the one below would look for its job server.
  const { MAKEFLAGS: _, MFLAGS: __, ...env } = process.env
  child = spawn(program, args, { cwd: repository, env, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

const [name = ''] = process.argv.slice(2)
const command = COMMANDS[name]
if (command === undefined) throw new Error(`usage: make.ts ${Object.keys(COMMANDS).join('|')}`)
// What is being stopped is stopped to the end.
if (name !== 'down') onEndOfMake(() => forward('SIGHUP'))
try {
  const isDone = await holdHome(process.env['SWITCHHOOK_HOME'] || '.local', command.place, `make ${name}`, async () => {
    if (command.builds && !(await run('make', ['--no-print-directory', 'build']))) return false
    return run(process.execPath, [join(repository, 'tools', 'local', 'dist', 'main.js'), name])
  })
  process.exitCode = isDone ? 0 : 1
} catch (error) {
  if (!(error instanceof HomeInUse)) throw error
  console.error(error.message)
  process.exitCode = 1
}
