import type { Logger } from './logger.ts'

interface Step {
  readonly name: string
  readonly close: () => unknown
}

/**
 * Closes what was opened, the last first, within a grace period. As `main` opens stores before consumers, closing stops
 * the consumers before the stores, with nothing to remember.
 */
export class Shutdown {
  readonly #steps: Step[] = []
  readonly #log: Logger
  readonly #graceMs: number
  #running: Promise<boolean> | undefined

  constructor(log: Logger, graceMs: number) {
    this.#log = log
    this.#graceMs = graceMs
  }

  defer(name: string, close: Step['close']): void {
    this.#steps.push({ name, close })
  }

  /** The process ends by itself once nothing is left open; at the deadline, or on a second signal, it is ended. */
  onSignals(...signals: NodeJS.Signals[]): void {
    for (const signal of signals) {
      process.on(signal, () => {
        if (this.#running !== undefined) process.exit(1)
        this.#log.info('shutting down', { signal })
        void this.run().then((clean) => process.exit(clean ? 0 : 1))
      })
    }
  }

  /** Resolves to whether every step closed in time. Repeated calls share one run. */
  run(): Promise<boolean> {
    this.#running ??= this.#closeAll()
    return this.#running
  }

  async #closeAll(): Promise<boolean> {
    const deadline = Date.now() + this.#graceMs
    let clean = true
    for (const { name, close } of this.#steps.toReversed()) {
      try {
        await within(Math.max(deadline - Date.now(), 0), close)
        this.#log.debug('closed', { step: name })
      } catch (error) {
        clean = false
        this.#log.error('could not close', { step: name, error })
      }
    }
    this.#log.info('shut down', { clean })
    return clean
  }
}

async function within(ms: number, close: Step['close']): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('still running at the end of SHUTDOWN_GRACE')), ms)
  })
  try {
    await Promise.race([close(), expired])
  } finally {
    clearTimeout(timer)
  }
}
