import { once } from 'node:events'
import { createSipPhone, openOutsideWorld } from '@switchhook/pbx'
import { createLogger, loadConfig, port, runProcess, Shutdown, startPoll, text, url } from '@switchhook/runtime'
import { createTelephonesServer, type Telephone } from './telephones.ts'

const fields = {
  TELEPHONES_PORT: port(),
  TELEPHONES_ASTERISK_URL: url(['http', 'https']),
  TELEPHONES_PASSWORD: text(),
  /** Of the phones, separated by commas. */
  TELEPHONES_NAMES: text(),
}
/** Phones and the outside world connect again after a restart of Asterisk. */
const CONNECT_EVERY_MS = 500

/** The phones of a local Asterisk, and the world outside. */
runProcess('telephones', async () => {
  const config = loadConfig(fields, process.env)
  const { TELEPHONES_PORT, TELEPHONES_ASTERISK_URL, TELEPHONES_PASSWORD: password } = config
  const log = createLogger('telephones', 'info')
  const shutdown = new Shutdown(log, 5_000)
  shutdown.onSignals('SIGTERM', 'SIGINT')
  const asterisk = new URL(TELEPHONES_ASTERISK_URL)
  const phonesUrl = `${asterisk.origin.replace('http', 'ws')}/ws`
  const phones = new Map<string, Telephone>(
    config.TELEPHONES_NAMES.split(',').map((name) => [
      name,
      { phone: createSipPhone({ name, password, url: phonesUrl, understands: ['talk', 'header'] }), isPlugged: true },
    ]),
  )
  let world = await openOutsideWorld(asterisk, password)

  async function connect(): Promise<void> {
    for (const { phone, isPlugged } of phones.values()) if (isPlugged && !phone.isRegistered) await phone.register()
    if (!world.isOpen) world = await openOutsideWorld(asterisk, password)
  }
  // The next round tries again.
  const tryToConnect = (): Promise<void> =>
    connect().catch((error: unknown) => log.warn('Asterisk cannot be reached', { error }))
  await tryToConnect()
  const connecting = startPoll(CONNECT_EVERY_MS, tryToConnect)
  const server = createTelephonesServer(phones, () => world).listen(TELEPHONES_PORT, '127.0.0.1')
  await once(server, 'listening')
  shutdown.defer('telephones', () => {
    void connecting.stop()
    server.close()
    server.closeAllConnections()
    world.close()
    for (const { phone } of phones.values()) phone.die()
  })
  log.info('started', { phones: [...phones.keys()] })
})
