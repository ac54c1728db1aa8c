import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { findBinary } from './find-binary.ts'
import type { Home } from './home.ts'
import { startDaemon, stopDaemon } from './process/daemon.ts'
import { ownEnvironment } from './process/own-environment.ts'
import { runningPid } from './process/pid-file.ts'
import { type CommandResult, runCommand } from './process/run-command.ts'
import type { RabbitmqAddress, RabbitmqControl } from './provider.ts'
import { amqpAnswers, epmdAnswers, httpAnswers } from './reachable.ts'
import { readPorts, rememberPorts } from './remember-ports.ts'
import { rabbitmqAdvancedConfigFile, rabbitmqConfigFile } from './repository.ts'

/**
 * The script that Debian and Red Hat put on the PATH switches to the user `rabbitmq`, who cannot write to the home. The
 * script in the package's folder runs as the calling user.
 */
export const rabbitmqBinary = (): string | undefined => findBinary('rabbitmq-server', ['/usr/lib/rabbitmq/bin'])

/**
 * The version of this machine's RabbitMQ, such as `4.3.6`, from the folder of its programs. `rabbitmqctl version` starts an
 * Erlang port mapper that is never stopped. undefined: it is not installed, or in a folder without a version.
 */
export function rabbitmqVersion(): string | undefined {
  const command = findBinary('rabbitmqctl', ['/usr/lib/rabbitmq/bin'])
  if (command === undefined) return undefined
  return /rabbitmq(?:_server-|\/)(\d+(?:\.\d+)+)\//.exec(realpathSync(command))?.[1]
}

const PORTS = { amqp: 0, management: 0, metrics: 0, distribution: 0, epmd: 0 }
type Ports = Readonly<typeof PORTS>

export const nodeName = (home: Home): string => `switchhook-${home.id}@localhost`

const portsFile = (home: Home): string => join(home.dataDir, 'rabbitmq-ports.json')
const LATIN_1 = /^[\x20-\xff]*$/

const linkTo = (home: Home): string => join(tmpdir(), `switchhook-${home.id}`)

/** The home by a path that Erlang reads: one in Latin-1. */
function erlangPathOf(home: Home): string {
  if (LATIN_1.test(home.path)) return home.path
  const link = linkTo(home)
  if (!existsSync(link) || realpathSync(link) !== home.path) {
    rmSync(link, { force: true })
    symlinkSync(home.path, link)
  }
  return link
}

const dataDir = (home: Home): string => join(erlangPathOf(home), 'data', 'rabbitmq')
const ENV_FILE = 'rabbitmq-env.conf'

/**
 * RabbitMQ passes on the dead letters of a quorum queue by a worker of its own. If two of them end within five seconds, because
 * their queues were deleted while they started, their supervisor ends for good (rabbit_fifo_dlx_sup.erl), and no queue with dead
 * letters that is declared afterwards has a leader. Tests delete virtual hosts all the time, so the supervisor gets a greater
 * number of restarts (field 6 of the state of supervisor.erl). Erlang code without blanks, at which the script would cut it.
 */
const KEEP_DEAD_LETTER_WORKERS =
  'spawn(fun()->(fun(F)->F(F)end)(fun(F)->(case(whereis(rabbit_fifo_dlx_sup))of(undefined)->timer:sleep(100),F(F);(P)->sys:replace_state(P,fun(S)->setelement(6,S,1000000)end)end)end)end).'

/** The settings that the nodes of one cluster share. */
export interface ClusterSettings {
  readonly portMapper: number
  readonly cookie: string
  /** Further configuration files, which all nodes read. */
  readonly configFiles?: readonly string[]
}

/** Starts the RabbitMQ of this home, on loopback only, unless it is running. */
export async function startPrivateRabbitmq(
  home: Home,
  binary: string,
  cluster?: ClusterSettings,
): Promise<RabbitmqAddress> {
  const dir = dataDir(home)
  if ((await runningPid(home, 'rabbitmq')) === undefined) {
    const epmdRuns = cluster !== undefined || (await runningPid(home, 'epmd')) !== undefined
    const ports = await assignPorts(home, epmdRuns, cluster)
    if (cluster !== undefined) writeCookie(dir, cluster.cookie)
    const env = { ...ownEnvironment(), ...writeSettings(home, dir, ports, cluster?.configFiles) }
    if (!epmdRuns) await startEpmd(home, ports.epmd, env)
    await startDaemon(home, {
      name: 'rabbitmq',
      command: binary,
      args: [],
      env,
      cwd: dir,
      isReady: async () =>
        (await amqpAnswers(ports.amqp)) && (await httpAnswers(`http://127.0.0.1:${ports.management}/`)),
      readyWithinMs: 120_000,
    })
  }
  return addressOf(home)
}

const assignPorts = (home: Home, epmdRuns: boolean, cluster?: ClusterSettings): Promise<Ports> =>
  rememberPorts(
    portsFile(home),
    { ...PORTS, epmd: cluster?.portMapper ?? 0 },
    new Set(epmdRuns ? (['epmd'] as const) : []),
  )

/** The address that a node of a cluster will have once it is started. */
export async function reserveAddress(home: Home, cluster: ClusterSettings): Promise<RabbitmqAddress> {
  await assignPorts(home, true, cluster)
  return addressOf(home)
}

function addressOf(home: Home): RabbitmqAddress {
  const ports = readPorts(portsFile(home))
  const control = evaluateCommand(home)
  return {
    amqpUrl: `amqp://guest:guest@127.0.0.1:${ports['amqp']}`,
    managementUrl: `http://guest:guest@127.0.0.1:${ports['management']}`,
    // Absent if an older version started the broker.
    ...(ports['metrics'] !== undefined && { metricsUrl: `http://127.0.0.1:${ports['metrics']}/metrics` }),
    ...(control !== undefined && { control }),
  }
}

/** Runs a command-line tool of RabbitMQ for this home's node; undefined: it is not installed. */
export async function runControl(
  home: Home,
  name: 'rabbitmqctl' | 'rabbitmq-queues',
  args: readonly string[],
): Promise<CommandResult | undefined> {
  const control = controlCommand(home, name)
  if (control === undefined) return undefined
  const env = { ...ownEnvironment(), ...control.env }
  return runCommand(control.command, [...control.args, ...args], { env, cwd: dataDir(home), timeoutMs: 60_000 })
}

/** Runs `rabbitmqctl`. Returns whether it succeeded; it fails while the broker is down. */
export const controlPrivateRabbitmq = async (home: Home, args: readonly string[]): Promise<boolean> =>
  (await runControl(home, 'rabbitmqctl', args))?.ok === true

function controlCommand(home: Home, name: 'rabbitmqctl' | 'rabbitmq-queues'): RabbitmqControl | undefined {
  const command = findBinary(name, ['/usr/lib/rabbitmq/bin'])
  if (command === undefined) return undefined
  const dir = dataDir(home)
  // Erlang reads its cookie from HOME.
  const env = {
    HOME: dir,
    RABBITMQ_CONF_ENV_FILE: join(dir, ENV_FILE),
    ERL_EPMD_PORT: String(readPorts(portsFile(home))['epmd']),
  }
  return { command, args: ['--node', nodeName(home)], env }
}

/**
 * Erlang's own `erl_call` is a small program. A tool of RabbitMQ starts a virtual machine, which takes up to a minute on a busy
 * machine.
 */
function evaluateCommand(home: Home): RabbitmqControl | undefined {
  const tool = controlCommand(home, 'rabbitmqctl')
  const erlang = findBinary('erl')
  const [erlCall] = erlang === undefined ? [] : globSync(join(realpathSync(erlang), '../../erts-*/bin/erl_call'))
  if (tool === undefined || erlCall === undefined) return tool && { ...tool, args: [...tool.args, 'eval'] }
  return { command: erlCall, args: ['-sname', nodeName(home), '-e'], env: tool.env }
}

export async function stopPrivateRabbitmq(home: Home, graceMs?: number): Promise<void> {
  await stopDaemon(home, 'rabbitmq', graceMs)
  await stopDaemon(home, 'epmd', graceMs)
  rmSync(linkTo(home), { force: true })
}

function writeCookie(dir: string, cookie: string): void {
  const file = join(dir, '.erlang.cookie')
  if (existsSync(file)) return
  mkdirSync(dir, { recursive: true })
  // Erlang rejects a cookie file that other users can read.
  writeFileSync(file, cookie, { mode: 0o400 })
}

/**
 * Starts Erlang's port mapper on its own port. The default one is shared by all nodes of the machine and is never stopped;
 * this one belongs to the home and stops with the broker.
 */
export async function startEpmd(home: Home, port: number, env: NodeJS.ProcessEnv): Promise<void> {
  const binary = findBinary('epmd', ['/usr/lib/erlang/bin', '/usr/lib64/erlang/bin'])
  // Without a binary to start, Erlang starts the epmd of its own release.
  if (binary === undefined) return
  await startDaemon(home, {
    name: 'epmd',
    command: binary,
    args: ['-port', String(port), '-address', '127.0.0.1'],
    env,
    isReady: () => epmdAnswers(port),
    readyWithinMs: 10_000,
  })
}

/** Writes the configuration into `dir` and returns the environment that makes RabbitMQ read only these files. */
function writeSettings(home: Home, dir: string, ports: Ports, configFiles: readonly string[] = []): NodeJS.ProcessEnv {
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }
  // The clone, too, may have a path that Erlang cannot read.
  const copy = (path: string, folder: string): string => {
    const target = join(dir, folder, basename(path))
    copyFileSync(path, target)
    return target
  }
  mkdirSync(join(dir, 'conf.d'), { recursive: true })
  for (const path of configFiles) copy(path, 'conf.d')
  file(
    'conf.d/90-private.conf',
    [
      `listeners.tcp.1 = 127.0.0.1:${ports.amqp}`,
      'management.tcp.ip = 127.0.0.1',
      `management.tcp.port = ${ports.management}`,
      'prometheus.tcp.ip = 127.0.0.1',
      `prometheus.tcp.port = ${ports.metrics}`,
      // Tests need fresh counts; the cost does not matter on a development broker.
      'collect_statistics_interval = 1000',
      '',
    ].join('\n'),
  )
  return {
    HOME: dir,
    RABBITMQ_NODENAME: nodeName(home),
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_DIST_PORT: String(ports.distribution),
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // The tick, in milliseconds, refreshes the members and counts of quorum queues, for tests and development only.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {127,0,0,1} -rabbit quorum_tick_interval 1000 -eval ${KEEP_DEAD_LETTER_WORKERS}`,
    // Erlang would otherwise allocate tables for the maximum number of open files, which can be huge.
    ERL_MAX_PORTS: '8192',
    RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
    RABBITMQ_LOG_BASE: join(erlangPathOf(home), 'log'),
    RABBITMQ_CONFIG_FILE: copy(rabbitmqConfigFile, '.'),
    RABBITMQ_CONFIG_FILES: join(dir, 'conf.d', '*.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: copy(rabbitmqAdvancedConfigFile, '.'),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins', '[rabbitmq_management,rabbitmq_prometheus].\n'),
    // Replaces /etc/rabbitmq/rabbitmq-env.conf, which belongs to the machine's own instance.
    RABBITMQ_CONF_ENV_FILE: file(ENV_FILE, ''),
    // Makes the script exec the broker, so that the pid is the broker's and signals reach it.
    RUNNING_UNDER_SYSTEMD: 'true',
  }
}
