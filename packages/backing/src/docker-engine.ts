import { runCommand } from './process/run-command.ts'

/** What is missing for containers to run here, or undefined. An engine that does not answer soon is none. */
export async function missingDocker(): Promise<string | undefined> {
  const { ok, stdout } = await runCommand('docker', ['version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 5_000,
  })
  return ok && stdout.trim() !== '' ? undefined : 'no Docker engine answers'
}
