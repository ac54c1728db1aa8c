import {
  CallState,
  type CallStatus,
  EndReason,
  LegRole,
  newCallId,
  newCommandId,
  type Transfer,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import { aReport } from '../testing/report.ts'
import { isSameAddress } from './address.ts'
import { allowedCommands, type CommandOnLeg, checkCommand } from './check-command.ts'
import { applyReport } from './leg.ts'

const { initiated, alerting, proceeding, connected, held, ended, unknown } = CallState
const commandId = newCommandId()

function inState(state: CallState, transfer: Transfer | null = null): CallStatus {
  const leg = applyReport(undefined, aReport({ state, transfer }))
  if (leg === undefined) throw new Error('a first report always makes a leg')
  return leg.status
}

/** The result for each command in each state. */
const TABLE: readonly [CallState, Record<CommandOnLeg, 'send' | 'noop' | 'refuse'>][] = [
  [initiated, { answer: 'refuse', hold: 'refuse', resume: 'refuse', transfer: 'refuse', hangup: 'send' }],
  [proceeding, { answer: 'refuse', hold: 'refuse', resume: 'refuse', transfer: 'refuse', hangup: 'send' }],
  [alerting, { answer: 'send', hold: 'refuse', resume: 'refuse', transfer: 'refuse', hangup: 'send' }],
  [connected, { answer: 'noop', hold: 'send', resume: 'noop', transfer: 'send', hangup: 'send' }],
  [held, { answer: 'refuse', hold: 'noop', resume: 'send', transfer: 'send', hangup: 'send' }],
  [ended, { answer: 'refuse', hold: 'refuse', resume: 'refuse', transfer: 'refuse', hangup: 'noop' }],
  [unknown, { answer: 'refuse', hold: 'refuse', resume: 'refuse', transfer: 'refuse', hangup: 'send' }],
]

const rows = TABLE.flatMap(([state, commands]) =>
  Object.entries(commands).map(([command, kind]) => [command as CommandOnLeg, state, kind] as const),
)

test.each(rows)('%s in state %i: %s', (command, state, kind) => {
  expect(checkCommand(command, inState(state), { commandId, target: '+15550111' }).kind).toBe(kind)
})

test.each<[CommandOnLeg, CallState, CommandOnLeg[]]>([
  ['hold', initiated, ['hangup']],
  ['transfer', alerting, ['answer', 'hangup']],
  ['answer', held, ['resume', 'transfer', 'hangup']],
  ['resume', ended, []],
])('a refused %s names the state (%i) and the allowed commands', (command, currentState, allowedCommands) => {
  const refusal = { kind: 'refuse', code: 'invalid-call-state', currentState, allowedCommands }
  expect(checkCommand(command, inState(currentState), { commandId })).toEqual(refusal)
})

describe('a device that cannot be made to answer', () => {
  const check = (command: CommandOnLeg, state: CallState) =>
    checkCommand(command, inState(state), { commandId, remoteAnswer: false })

  test('answer is refused with its own reason, and is not among the allowed commands', () => {
    const refusal = { kind: 'refuse', currentState: alerting, allowedCommands: ['hangup'] }
    expect(check('answer', alerting)).toEqual({ ...refusal, code: 'remote-answer-unsupported' })
    expect(check('hold', alerting)).toEqual({ ...refusal, code: 'invalid-call-state' })
  })
  test('every other command is as possible as with any device', () => {
    expect(check('hangup', alerting)).toEqual({ kind: 'send', as: 'hangup' })
    expect(check('answer', connected)).toEqual({ kind: 'noop' })
    expect(check('answer', held)).toMatchObject({ code: 'invalid-call-state' })
  })
})

test('a leg that the platform has not reported yet can only be hung up', () => {
  expect(checkCommand('hangup', undefined, { commandId })).toEqual({ kind: 'send', as: 'hangup' })
  expect(checkCommand('hold', undefined, { commandId })).toMatchObject({ kind: 'refuse', currentState: initiated })
})

test.each<CommandOnLeg>(['answer', 'hangup', 'hold', 'resume', 'transfer'])(
  '%s that has caused the current state and is repeated after a crash is neither sent again nor a no-op',
  (command) => {
    const status = { ...inState(connected), commandId }
    expect(checkCommand(command, status, { commandId, target: '+15550111' })).toEqual({ kind: 'done' })
  },
)

test.each(['tel:+15550100', '+1 555 0100'])(
  'a transfer to the other party of the call, as %s, is refused',
  (target) => {
    expect(checkCommand('transfer', inState(held), { commandId, target })).toEqual({
      kind: 'refuse',
      code: 'invalid-call-state',
      detail: 'The transferTarget is the other party of this call. Name another target.',
      currentState: held,
      allowedCommands: ['resume', 'transfer', 'hangup'],
    })
  },
)

describe('a transfer while another one is pending', () => {
  const otherCallId = newCallId()
  const transfer = (more: Partial<Transfer> = {}): Transfer => ({
    blind: false,
    target: '+15550111',
    role: TransferRole.transferring,
    status: TransferStatus.ringing,
    failReason: EndReason.none,
    otherCallId,
    ...more,
  })
  const consulting = { consultation: { callId: otherCallId, target: '+15550111' } }
  const check = (pending: Transfer, target: string, consultationCallId = newCallId(), more: object = consulting) =>
    checkCommand('transfer', { ...inState(held, pending), ...more }, { commandId, target, consultationCallId })

  test('to the same target completes it', () => {
    expect(check(transfer(), '+15550111')).toEqual({ kind: 'send', as: 'completeTransfer' })
  })
  test('to the same number in another notation completes it', () => {
    expect(check(transfer(), 'tel:+1-555-0111')).toEqual({ kind: 'send', as: 'completeTransfer' })
  })
  test('to another target is refused', () => {
    expect(check(transfer(), '+15550112')).toMatchObject({ kind: 'refuse', code: 'transfer-in-progress' })
  })
  test('to the same target of a blind transfer is a no-op', () => {
    const blind = transfer({ blind: true, otherCallId: null })
    expect(check(blind, '+15550111', newCallId(), { consultation: null })).toEqual({ kind: 'noop' })
  })
  test('to the same target of one that was completed while the target rang is a no-op', () => {
    expect(check(transfer(), '+15550111', newCallId(), { consultation: null })).toEqual({ kind: 'noop' })
  })
  test('that repeats the pending one after a crash does not complete it', () => {
    expect(check(transfer(), '+15550111', otherCallId)).toEqual({ kind: 'done' })
  })
  test('by the agent who is being transferred is refused', () => {
    expect(check(transfer({ role: TransferRole.transferred }), '+15550111')).toMatchObject({
      code: 'transfer-in-progress',
      allowedCommands: ['resume', 'hangup'],
    })
  })
  test.each([TransferStatus.completed, TransferStatus.failed, TransferStatus.cancelled])(
    'is a new one when the earlier one has ended (%i)',
    (status) => {
      expect(check(transfer({ status }), '+15550112')).toEqual({ kind: 'send', as: 'transfer' })
    },
  )
})

test.each([
  ['the agent who consults', LegRole.originator, 'transfer-in-progress', ['hold', 'hangup']],
  ['the consulted target', LegRole.consultant, undefined, ['hold', 'transfer', 'hangup']],
])('a consultation: %s', (_whose, role, code, allowed) => {
  const status = { ...inState(connected), role, consultation: { forCallId: newCallId() } }
  expect(checkCommand('transfer', status, { commandId, target: '+15550111' })).toMatchObject(
    code === undefined ? { kind: 'send' } : { code, allowedCommands: allowed },
  )
  expect(allowedCommands(status)).toEqual(allowed)
})

test.each([
  ['+15550100', 'tel:+15550100', true],
  ['+1 (555) 0100', 'tel:+1-555-0100', true],
  ['+1 555 0100 0100 0100 0100 0100 0100', '+1555010001000100010001000100', true],
  ['15550100', '+15550100', false],
  ['sip:bob@acme.example', 'sip:bob@acme.example', true],
  ['sip:bob@acme.example', 'sip:BOB@acme.example', false],
])('%s and %s are the same address: %p', (one, other, same) => {
  expect(isSameAddress(one, other)).toBe(same)
})
