import { join } from 'node:path'
import { DEFAULT_RETRY_WAITS } from '@switchhook/contracts'
import { durations, loadConfig } from '@switchhook/runtime'
import { type Say } from '@switchhook/test-servers'
import { interruption } from '../stack/interruption.ts'
import { readStackOptions } from '../stack/stack-options.ts'
import { startStack } from '../stack/start-stack.ts'
import { stopStack } from '../stack/stop-stack.ts'
import { runScenario } from './run-scenario.ts'
import { createScreen, type Screen } from './screen.ts'
import { StepFailed, verify } from './verify.ts'

const SHORT_SCHEDULE = '1s,2s,3s'

/**
 * Starts a private stack, runs the scenario and stops the stack, also after a failure. Resolves only if every step was
 * verified.
 */
export async function runDemo(env: NodeJS.ProcessEnv, say: Say): Promise<void> {
  const home = join(env['SWITCHHOOK_HOME'] || '.local', 'demo')
  const options = { ...readStackOptions(env), home, apiPort: 0, idpPort: 0 }
  const waitsMs = readSchedule(env, SHORT_SCHEDULE)
  const screen = screenOf(env, say)
  let isInterrupted = false
  const interrupted = interruption().then((signal) => {
    isInterrupted = true
    throw new StepFailed(`interrupted by ${signal}: the demo is incomplete`)
  })
  // It is awaited once something runs.
  interrupted.catch(() => {})

  const began = Date.now()
  say('Starting RabbitMQ, Redis, the local identity provider and the services')
  await stopStack(home, say, { discardData: true })
  if (isInterrupted) return await interrupted
  const settings = { DELIVERY_RETRY_WAITS: waitsMs.map((ms) => `${ms}ms`).join(','), WRAP_UP_SECONDS: '2' }
  const starting = startStack(options, { ...env, ...settings }, say)
  let isComplete = false
  try {
    const runOnStack = async (): Promise<void> => {
      const { urls, home } = await starting
      const startedMs = Date.now() - began
      screen.row([`up after ${(startedMs / 1_000).toFixed(1)} s: api ${urls.api}, log files in ${home}/log`])
      if (isInterrupted) return
      if (urls.asterisk !== null) screen.row([`SIP phones of alice, bob and carol are registered at ${urls.asterisk}`])
      const target = { apiUrl: String(urls.api), devIdpUrl: urls.devIdp, telephonesUrl: urls.telephones, waitsMs }
      await runScenario(target, screen, startedMs)
    }
    await Promise.race([runOnStack(), interrupted])
    isComplete = true
  } finally {
    if (!isComplete) say(`Logs of the services: ${join(home, 'log')}`)
    // A process that is still starting could not be found and stopped.
    await Promise.allSettled([starting])
    await stopStack(home, say, { discardData: isComplete })
  }
  say('Done. Every step above was verified, and everything is stopped.')
}

/**
 * Runs the scenario on a stack that is already running at `DEMO_API_URL` and `DEMO_IDP_URL`. No other client may use its
 * agent alice in the meantime. `DELIVERY_RETRY_WAITS` must be the schedule of its workers.
 */
export async function runDemoOnGiven(env: NodeJS.ProcessEnv, say: Say): Promise<void> {
  const apiUrl = env['DEMO_API_URL'] ?? ''
  say(`Running the scenario against ${apiUrl}`)
  const target = {
    apiUrl,
    devIdpUrl: env['DEMO_IDP_URL'] || 'http://127.0.0.1:8090',
    waitsMs: readSchedule(env, DEFAULT_RETRY_WAITS),
    webhookHost: env['DEMO_WEBHOOK_HOST'] || undefined,
  }
  await runScenario(target, screenOf(env, say))
  say('Done. Every step above was verified.')
}

function readSchedule(env: NodeJS.ProcessEnv, fallback: string): readonly number[] {
  const { DELIVERY_RETRY_WAITS: waitsMs } = loadConfig({ DELIVERY_RETRY_WAITS: durations(fallback) }, env)
  verify(waitsMs.length > 0, 'a retry is possible: DELIVERY_RETRY_WAITS names no wait')
  return waitsMs
}

const screenOf = (env: NodeJS.ProcessEnv, say: Say): Screen =>
  createScreen(say, { colour: process.stdout.isTTY && !env['NO_COLOR'] })
