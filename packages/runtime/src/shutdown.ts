import { answerWithin } from './deadline.ts'
import type { Logger } from './logger.ts'

/** Closes parts in reverse order of `defer`: a service opens its stores before its consumers, which stop first. */
export class Shutdown {
  readonly #parts: { readonly name: string; readonly close: () => unknown }[] = []
  readonly #log: Logger
  readonly #graceMs: number
  #running: Promise<boolean> | undefined

  constructor(log: Logger, graceMs: number) {
    this.#log = log
    this.#graceMs = graceMs
  }

  defer(name: string, close: () => unknown): void {
    this.#parts.push({ name, close })
  }

  /** The first signal runs the shutdown and exits with 0 if it was clean, else 1. A second signal exits immediately with 1. */
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
    for (const { name, close } of this.#parts.toReversed()) {
      try {
        const closed = Promise.resolve(close())
        await answerWithin(deadline - Date.now(), closed, 'still running at the end of SHUTDOWN_GRACE')
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
