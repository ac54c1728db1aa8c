import type { ChannelRecord } from './check-calls.ts'

/** Reads the lines `event,seconds,id,channel` that Asterisk writes (`packages/pbx/asterisk/cel_custom.conf`). Pure. */
export function parseChannelLog(text: string): readonly ChannelRecord[] {
  const channels = new Map<string, ChannelRecord>()
  for (const line of text.split('\n')) {
    const [event = '', seconds, id = '', name = ''] = line.split(',')
    const atMs = Math.round(Number(seconds) * 1_000)
    // An id is used again only after its channel has ended.
    const known = channels.get(id)
    if (event === 'CHAN_START') {
      channels.set(id, { id, name, startedAtMs: atMs, answeredAtMs: null, endedAtMs: null })
    } else if (known !== undefined && event === 'ANSWER') {
      channels.set(id, { ...known, answeredAtMs: known.answeredAtMs ?? atMs })
    } else if (known !== undefined && event === 'CHAN_END') {
      channels.set(id, { ...known, endedAtMs: atMs })
    }
  }
  return [...channels.values()]
}
