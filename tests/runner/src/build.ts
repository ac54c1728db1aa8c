import { runCommand } from '@switchhook/test-servers'

/** What the tests need cannot be built. */
export class BuildFailed extends Error {
  override readonly name = 'BuildFailed'
  /** All that the build printed. */
  readonly output: string

  constructor(command: string, output: string) {
    super(`${command} failed.`)
    this.output = output
  }
}

/**
 * Builds what the tests need with one command.
 * @param env makes its processes part of the run
 * @throws BuildFailed
 */
export async function build(
  command: readonly [string, ...string[]],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // The options of the `make` that runs the tests are not for the one that builds.
  const { MAKEFLAGS: _, MFLAGS: __, ...others } = process.env
  const [program, ...args] = command
  const { ok, output } = await runCommand(program, args, { cwd, env: { ...others, ...env } })
  if (!ok) throw new BuildFailed(command.join(' '), output.trim())
}
