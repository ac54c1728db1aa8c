import { PlatformUnavailable } from '@switchhook/platform'
import { asteriskFields, asteriskServer, type Watch, watchAsterisk } from '@switchhook/platform-asterisk'
import { loadConfig, type Rule, runProcess, startFields, startRules } from '@switchhook/runtime'

const { ASTERISK_URL, ASTERISK_USER, ASTERISK_PASSWORD_FILE, ASTERISK_CA_FILE } = asteriskFields

export const serverFields = { ASTERISK_URL, ASTERISK_USER, ASTERISK_PASSWORD_FILE, ASTERISK_CA_FILE }

export const requireAsterisk: Rule<typeof serverFields> = ({ ASTERISK_URL: url, ASTERISK_PASSWORD_FILE: password }) =>
  url === undefined || password === undefined ? 'ASTERISK_URL and ASTERISK_PASSWORD_FILE are required' : undefined

const say = (line: string): void => void process.stdout.write(`${new Date().toISOString()}  ${line}\n`)

/** `node dist/watch-asterisk.js`, in the api image: prints phones and calls of an Asterisk until it is interrupted. Changes nothing. */
export const runWatchAsterisk = (): void =>
  runProcess('watch-asterisk', async () => {
    const config = loadConfig({ ...serverFields, ...startFields }, process.env, [requireAsterisk, ...startRules])
    const watch = await watchAsterisk(asteriskServer(config), say).catch((error: unknown): Watch | undefined => {
      if (!(error instanceof PlatformUnavailable)) throw error
      process.stderr.write(`${error.message}\n`)
      process.exitCode = 1
      return undefined
    })
    if (watch === undefined) return
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void watch.close())
    say(`the event stream has ended: ${await watch.closed}`)
  })
