/** What a delivery is answered. */
export interface ReceiverAnswer {
  readonly status: number
  /** The body. The delivery log of the subscription shows its beginning. */
  readonly reason?: string
}

/** Ends the handling of a request with this answer. */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, reason: string, cause?: unknown) {
    super(reason, { cause })
    this.status = status
  }
}

export const STOPPING: ReceiverAnswer = { status: 503, reason: 'The receiver is stopping.' }

/** The result of `work`, or after `ms` the other answer; the work continues. */
export async function answerWithin(
  ms: number,
  work: Promise<ReceiverAnswer>,
  late: ReceiverAnswer,
): Promise<ReceiverAnswer> {
  let timer: Parameters<typeof clearTimeout>[0]
  const timeout = new Promise<ReceiverAnswer>((resolve) => {
    // oxlint-disable-next-line no-restricted-globals -- it ends no wait: the work continues, and the retry finds it done
    timer = setTimeout(() => resolve(late), ms)
  })
  // oxlint-disable-next-line no-restricted-properties -- as above
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
