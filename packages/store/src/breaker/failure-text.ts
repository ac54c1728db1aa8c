import type { Attempt } from '@switchhook/contracts'

/** What a POST came to, in the words of an attempt. */
export type AttemptResult = Pick<Attempt, 'outcome' | 'status'>

/** As it is stored: `answered 503`, or `timeout`. */
export const toText = ({ outcome, status }: AttemptResult): string =>
  status === null ? outcome : `${outcome} ${status}`

/** Written by this package alone, so its shape is known. */
export function fromText(text: string): AttemptResult {
  const [outcome = '', status] = text.split(' ')
  return { outcome: outcome as Attempt['outcome'], status: status === undefined ? null : Number(status) }
}
