import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repository, runCommand } from '@switchhook/test-servers'

/** Asterisk cannot be downloaded on this machine; the message has the reason and what to do. */
export class AsteriskUnavailable extends Error {
  override readonly name = 'AsteriskUnavailable'
}

/** Asterisk is in Debian's unstable suite only. It runs with its own loader and libraries, so the machine's stay as they are. */
const SUITE = 'sid'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
/** Only the packages' installation scripts need these, and the scripts are not run. */
const NOT_NEEDED =
  /^(debconf|perl-base|init-system-helpers|adduser|passwd|gnupg|gpg|dirmngr|gpgconf|gpgsm|pinentry|systemd|mawk|dpkg|tar|sysvinit)[^/]*_/
const DOWNLOAD_WITHIN_MS = 300_000

/**
 * The folder with Asterisk's unpacked Debian packages: `ASTERISK_ROOT`, or one below `node_modules` that is filled at
 * first use (a download of 72 MB from the machine's Debian mirror). Needs no root.
 * @throws AsteriskUnavailable
 */
export async function asteriskFiles(root = process.env['ASTERISK_ROOT']): Promise<string> {
  const folder = root ?? join(repository, 'node_modules', '.cache', `asterisk-${SUITE}`)
  if (existsSync(join(folder, 'usr', 'sbin', 'asterisk'))) return folder
  if (root !== undefined) throw new AsteriskUnavailable(`ASTERISK_ROOT has no usr/sbin/asterisk: ${root}`)
  const work = mkdtempSync(join(tmpdir(), 'asterisk-'))
  try {
    await unpack(await download(work), join(work, 'root'))
    mkdirSync(dirname(folder), { recursive: true })
    // Renamed only when complete, so that an interrupted download is not used.
    await run('mv', [join(work, 'root'), `${folder}.new`])
    renameSync(`${folder}.new`, folder)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return folder
}

/** Asks apt, with an empty list of installed packages, for all that Asterisk needs. */
async function download(work: string): Promise<string> {
  if (!existsSync(KEYRING)) throw new AsteriskUnavailable('this machine has no keys of the Debian archive')
  const site = await run('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages'])
  const mirror = site.split('\n')[0] ?? ''
  for (const folder of ['etc/parts', 'etc/preferences', 'state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  writeFileSync(join(work, 'status'), '')
  writeFileSync(join(work, 'etc', 'sources.list'), `deb [signed-by=${KEYRING}] ${mirror} ${SUITE} main\n`)
  writeFileSync(join(work, 'apt.conf'), aptConfiguration(work))
  const env = { ...process.env, APT_CONFIG: join(work, 'apt.conf') }
  await run('apt-get', ['-q', 'update'], env)
  await run('apt-get', ['-q', 'install', '-y', '--download-only', 'asterisk'], env)
  return join(work, 'cache', 'archives')
}

const aptConfiguration = (work: string): string => `
Dir::Etc "${work}/etc"; Dir::Etc::Parts "${work}/etc/parts"; Dir::Etc::PreferencesParts "${work}/etc/preferences";
Dir::State "${work}/state"; Dir::State::status "${work}/status"; Dir::Cache "${work}/cache";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none"; APT::Install-Recommends "false"; APT::Sandbox::User "";
`

async function unpack(archives: string, folder: string): Promise<void> {
  mkdirSync(folder)
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb') && !NOT_NEEDED.test(file))) {
    await run('dpkg', ['-x', join(archives, name), folder])
  }
}

async function run(command: string, args: readonly string[], env = process.env): Promise<string> {
  const { ok, stdout, output } = await runCommand(command, args, { env, timeoutMs: DOWNLOAD_WITHIN_MS })
  if (ok) return stdout.trim()
  throw new AsteriskUnavailable(`${command} ${args[0]} failed: ${output.trim().split('\n').slice(-2).join(' / ')}`)
}
