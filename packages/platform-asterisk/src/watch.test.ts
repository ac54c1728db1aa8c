import type { AriEvent } from './ari/ari-model.ts'
import { describeEvent } from './watch.ts'

const channel = {
  id: '1',
  name: 'PJSIP/alice-1',
  state: 'Ringing',
  creationtime: '',
  caller: { name: '', number: '+15559000' },
  dialplan: { app_name: '', app_data: '' },
}

test.each<[AriEvent, string | undefined]>([
  [{ type: 'ContactStatusChange', endpoint: { resource: 'alice', state: 'online' } }, 'endpoint alice: online'],
  [{ type: 'ChannelCreated', channel }, 'PJSIP/alice-1: created, caller +15559000'],
  [{ type: 'ChannelStateChange', channel }, 'PJSIP/alice-1: ringing'],
  [{ type: 'ChannelHold', channel }, 'PJSIP/alice-1: holds'],
  [{ type: 'ChannelUnhold', channel }, 'PJSIP/alice-1: resumes'],
  [{ type: 'ChannelDestroyed', channel, cause: 16 }, 'PJSIP/alice-1: ended, cause 16'],
  [{ type: 'ChannelVarset', channel }, undefined],
  [{ type: 'DeviceStateChanged' }, undefined],
])('%j is shown as %p', (event, line) => {
  expect(describeEvent(event)).toBe(line)
})
