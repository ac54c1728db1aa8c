import type { AriClient } from './ari-client.ts'
import type { AriBridge, AriChannel } from './ari-model.ts'

/** Asterisk's channels and bridges, those of other applications included. */
export interface Calls {
  readonly channels: readonly AriChannel[]
  readonly bridges: readonly AriBridge[]
}

type Reading = Pick<AriClient, 'request'>

/** @throws AriUnavailable, or Error if Asterisk answers anything but 200 */
export async function readList(ari: Reading, path: string): Promise<unknown> {
  const { status, body } = await ari.request('GET', path)
  if (status !== 200) throw new Error(`Asterisk answered ${status} to GET ${path}`)
  return body
}

/** Reads the channels before the bridges. @throws as `readList` */
export async function readCalls(ari: Reading): Promise<Calls> {
  const channels = (await readList(ari, '/channels')) as readonly AriChannel[]
  const bridges = (await readList(ari, '/bridges')) as readonly AriBridge[]
  return { channels, bridges }
}
