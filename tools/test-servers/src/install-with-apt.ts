import { setTimeout } from 'node:timers/promises'
import { findBinary } from './find-binary.ts'
import { type Say, withProgress } from './process/progress.ts'
import { type CommandResult, runCommand } from './process/run-command.ts'
import { BackingUnavailable } from './provider.ts'

/**
 * Installs packages without starting or enabling their services, because the instances of this package are private and
 * another program may use port 5672 or 6379. A temporary policy-rc.d (Debian policy 9.3.3) prevents the start.
 */
const INSTALL = `
set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt-get update -qq
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod +x "$policy"
fi
apt-get install -y -qq --no-install-recommends "$@"
if [ -d /run/systemd/system ]; then systemctl disable --quiet "$@" || true; fi
`

/** @throws BackingUnavailable if apt is missing, not permitted, or fails */
export async function installWithApt(packages: readonly string[], say: Say): Promise<void> {
  const names = packages.join(' and ')
  if (findBinary('apt-get') === undefined)
    throw new BackingUnavailable(`${names}: not installed, and this machine has no apt-get`)
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  if (sudo.length > 0 && !(await runCommand('sudo', ['-n', 'true'])).ok) {
    throw new BackingUnavailable(`${names}: not installed, and installing needs root or sudo without a password`)
  }
  const [command = 'sh', ...args] = [...sudo, 'sh', '-c', INSTALL, 'install', ...packages]
  const { ok, output } = await withProgress(
    say,
    `installing ${names} with apt`,
    whenUnlocked(() => runCommand(command, args), say),
  )
  if (!ok) throw new BackingUnavailable(`installing ${names} with apt failed: ${lastLines(output)}`)
}

/** The words of apt and dpkg, in English, for a lock that another process holds. */
const LOCKED = /could not get lock|unable to (acquire|lock)|is another process using it/i
/** An automatic upgrade on the first boot of a slow machine takes minutes. */
const LOCK_PATIENCE_MS = 15 * 60_000

/** Repeats a command of apt while another process, such as the automatic upgrade of a first boot, holds its lock. */
export async function whenUnlocked(
  run: () => Promise<CommandResult>,
  say: Say,
  { retryMs = 3_000, patienceMs = LOCK_PATIENCE_MS } = {},
): Promise<CommandResult> {
  const endMs = performance.now() + patienceMs
  let result = await run()
  if (isLocked(result)) say('… another program is installing packages; waiting until it releases the lock of apt')
  while (isLocked(result) && performance.now() < endMs) {
    await setTimeout(retryMs)
    result = await run()
  }
  return result
}

const isLocked = ({ ok, output }: CommandResult): boolean => !ok && LOCKED.test(output)

const lastLines = (output: string): string => output.trim().split('\n').slice(-3).join(' / ')

/**
 * Finds a program under one of its names, or installs its Debian package without starting a service.
 * @throws BackingUnavailable
 */
async function findOrInstall(aptPackage: string, names: readonly string[], say: Say): Promise<string> {
  const find = (): string | undefined => names.map((name) => findBinary(name)).find((path) => path !== undefined)
  if (find() === undefined) await installWithApt([aptPackage], say)
  const binary = find()
  if (binary === undefined) throw new BackingUnavailable(`${aptPackage} is installed, but its program is not on PATH`)
  return binary
}

export const prometheusBinary = (say: Say): Promise<string> => findOrInstall('prometheus', ['prometheus'], say)

/** The tests of the console drive it. The shell has no windows, and so takes two thirds of the time of a whole Chromium. */
export const chromiumBinary = (say: Say): Promise<string> =>
  findOrInstall('chromium-headless-shell', ['chromium-headless-shell', 'chromium', 'google-chrome'], say)
