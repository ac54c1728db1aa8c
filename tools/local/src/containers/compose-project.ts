import { composeFile, runCommand } from '@switchhook/backing'
import { verify } from '../demo/verify.ts'

/** The stack of docker-compose.yml under its own project name. A failed command throws with its output. */
export interface ComposeProject {
  /** The lines of standard output. */
  compose(...args: readonly string[]): Promise<readonly string[]>
  docker(...args: readonly string[]): Promise<readonly string[]>
  /** The ids of a service's containers, including stopped ones. */
  containers(service?: string): Promise<readonly string[]>
}

export function openComposeProject(name: string, env: NodeJS.ProcessEnv): ComposeProject {
  async function run(args: readonly string[]): Promise<readonly string[]> {
    const { ok, stdout, output } = await runCommand('docker', args, {
      env: { ...process.env, ...env },
      timeoutMs: 600_000,
    })
    verify(ok, `docker ${args.join(' ')}\n${output.trim()}`)
    return stdout.split('\n').filter((line) => line !== '')
  }
  const compose = (...args: readonly string[]): Promise<readonly string[]> =>
    run(['compose', '--project-name', name, '--file', composeFile, ...args])
  return {
    compose,
    docker: (...args) => run(args),
    containers: (service) =>
      compose('ps', '--all', '--quiet', '--no-trunc', ...(service === undefined ? [] : [service])),
  }
}
