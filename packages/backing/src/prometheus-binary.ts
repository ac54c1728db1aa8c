import { findBinary } from './find-binary.ts'
import { installWithApt } from './install-with-apt.ts'
import type { Say } from './process/progress.ts'
import { BackingUnavailable } from './provider.ts'

/**
 * Finds Prometheus on this machine, or installs it with apt without starting its service.
 * @throws BackingUnavailable
 */
export async function prometheusBinary(say: Say): Promise<string> {
  if (findBinary('prometheus') === undefined) await installWithApt(['prometheus'], say)
  const binary = findBinary('prometheus')
  if (binary === undefined) throw new BackingUnavailable('prometheus is installed, but its program is not on PATH')
  return binary
}
