import { PlatformUnavailable, type Watch, watchAsterisk } from '@switchhook/platform'
import { loadConfig, runProcess } from '@switchhook/runtime'
import { asteriskFields, serverOf } from './platform/asterisk/asterisk-config.ts'

const { ASTERISK_URL, ASTERISK_USER, ASTERISK_PASSWORD_FILE, ASTERISK_CA_FILE } = asteriskFields

const say = (line: string): void => void process.stdout.write(`${new Date().toISOString()}  ${line}\n`)

/** `node dist/watch-asterisk.js`: prints phones and calls of an Asterisk until it is interrupted, and changes nothing. */
runProcess('watch-asterisk', async () => {
  const fields = { ASTERISK_URL, ASTERISK_USER, ASTERISK_PASSWORD_FILE, ASTERISK_CA_FILE }
  const config = loadConfig(fields, process.env, [
    ({ ASTERISK_URL: url, ASTERISK_PASSWORD_FILE: password }) =>
      url === undefined || password === undefined ? 'ASTERISK_URL and ASTERISK_PASSWORD_FILE are required' : undefined,
  ])
  const watch = await watchAsterisk(serverOf(config), say).catch((error: unknown): Watch | undefined => {
    if (!(error instanceof PlatformUnavailable)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
    return undefined
  })
  if (watch === undefined) return
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void watch.close())
  say(`the event stream has ended: ${await watch.closed}`)
})
