import { spawn } from 'node:child_process'
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

// A terminal sends them to the programs below as well, which then end.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
// What is said to a closed terminal is lost.
process.stderr.on('error', () => {})

async function run(program: string, args: readonly string[]): Promise<boolean> {
  // With the flags of this make, the one below would look for its job server.
  const { MAKEFLAGS: _, MFLAGS: __, ...env } = process.env
  const child = spawn(program, args, { cwd: repository, env, stdio: 'inherit' })
  const forward = (signal: NodeJS.Signals): boolean => child.kill(signal)
  process.on('SIGTERM', forward)
  onEndOfMake(() => child.kill('SIGHUP'))
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('SIGTERM', forward)
  return code === 0
}

const [name = ''] = process.argv.slice(2)
const command = COMMANDS[name]
if (command === undefined) throw new Error(`usage: make.ts ${Object.keys(COMMANDS).join('|')}`)
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
