import { composeFile, runCommand } from '@switchhook/backing'
import { claim } from '../demo/claim.ts'

/** The stack of docker-compose.yml under a name of its own. Every command that fails throws with what it said. */
export interface ComposeProject {
  /** The lines of standard output. */
  compose(...args: readonly string[]): Promise<readonly string[]>
  docker(...args: readonly string[]): Promise<readonly string[]>
  /** The ids of a service's containers, ended ones included. */
  containers(service?: string): Promise<readonly string[]>
}

export function openComposeProject(name: string, env: NodeJS.ProcessEnv): ComposeProject {
  async function run(args: readonly string[]): Promise<readonly string[]> {
    const { ok, stdout, output } = await runCommand('docker', args, {
      env: { ...process.env, ...env },
      timeoutMs: 600_000,
    })
    claim(ok, `docker ${args.join(' ')}\n${output.trim()}`)
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
