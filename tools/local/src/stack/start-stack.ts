import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  composeProvider,
  DaemonFailed,
  type Home,
  httpAnswers,
  httpSucceeds,
  localProvider,
  openHome,
  repository,
  runningPid,
  type Say,
  startBackingServices,
  startDaemon,
  stopDaemon,
  withProgress,
} from '@switchhook/test-servers'
import { needsLocalAsterisk, startLocalAsterisk } from '../asterisk/local-asterisk.ts'
import { assignPorts } from './assign-ports.ts'
import { type Member, type MemberPorts, memberEnvironment, membersOf } from './members.ts'
import { describeStack, readStackFile, type Servers, type StackFile, writeStackFile } from './stack-file.ts'
import type { StackOptions } from './stack-options.ts'

/** Starts the processes of the stack that are not running, and resolves when all are ready. */
export async function startStack(options: StackOptions, env: NodeJS.ProcessEnv, say: Say): Promise<StackFile> {
  const members = membersOf(options)
  const unbuilt = members.find(({ script }) => !existsSync(script))
  if (unbuilt !== undefined) throw new DaemonFailed(`${unbuilt.script} is missing: run make build first`)
  const home = openHome(options.home)

  const backing = await startBackingServices({
    env: stickToLocalData(home, env),
    docker: composeProvider(home, say),
    local: localProvider(home, say),
    say,
  })
  const asterisk = needsLocalAsterisk(env) ? await startLocalAsterisk(home, say) : null
  say(`RabbitMQ: ${backing.providers.rabbitmq}, Redis: ${backing.providers.redis}`)
  await stopOutdated(home, members, { backing, asterisk })

  const pids = await Promise.all(members.map(({ name }) => runningPid(home, name)))
  const running = new Set(members.filter((_member, index) => pids[index] !== undefined).map(({ name }) => name))
  const ports = await assignPorts(home, members, running, options)
  const portsOf = (name: string): MemberPorts => ({ port: ports.ports[name], healthPort: ports.healthPorts[name] })
  const idpUrl = `http://127.0.0.1:${ports.ports['dev-idp']}`
  const describe = () => describeStack(home, members, ports, { backing, asterisk })
  writeStackFile(home, await describe())

  const starting = members.filter(({ name }) => !running.has(name))
  const start = async (member: Member): Promise<void> => {
    const own = portsOf(member.name)
    await startDaemon(home, {
      name: member.name,
      command: process.execPath,
      args: [member.script],
      env: memberEnvironment(member, own, { home, env, backing, idpUrl, platform: asterisk?.environment }),
      cwd: repository,
      isReady: () => isReady(own),
      readyWithinMs: 60_000,
    })
  }
  const names = starting.map(({ name }) => name).join(', ')
  const started = await withProgress(say, `starting ${names}`, Promise.allSettled(starting.map(start)))
  const stack = await describe()
  writeStackFile(home, stack)
  const failed = started.filter((result) => result.status === 'rejected')
  if (failed.length > 0) throw new AggregateError(failed.map(({ reason }) => reason as unknown))
  return stack
}

/** Data in the home was written by local programs, so they must be used again to find it. */
function stickToLocalData(home: Home, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isThere = ['rabbitmq', 'redis'].some((name) => existsSync(join(home.dataDir, name)))
  return isThere && !env['BACKING'] ? { ...env, BACKING: 'local' } : env
}

/** Stops members that an earlier `up` started with other URLs, because those servers may be gone. */
async function stopOutdated(home: Home, members: readonly Member[], { backing, asterisk }: Servers): Promise<void> {
  const before = readStackFile(home)?.urls
  if (before === undefined) return
  const urls = { amqp: backing.amqpUrl, redis: backing.redisUrl, asterisk: asterisk?.url ?? null }
  if (before.amqp === urls.amqp && before.redis === urls.redis && before.asterisk === urls.asterisk) return
  await Promise.all(members.map(({ name }) => stopDaemon(home, name)))
}

async function isReady({ port, healthPort }: MemberPorts): Promise<boolean> {
  return healthPort === undefined
    ? httpAnswers(`http://127.0.0.1:${port}/`)
    : httpSucceeds(`http://127.0.0.1:${healthPort}/readyz`)
}
