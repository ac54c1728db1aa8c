import { parentPort } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

/** A question from `openPglite`. */
export interface Question {
  readonly id: number
  readonly text: string
  readonly values: unknown[]
}

export type Reply = { readonly id: number } & ({ readonly rows: unknown[] } | { readonly error: string })

/** PGlite in a thread of its own, because it imports modules in a way that Jest does not support. */
const database = await PGlite.create()
// oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
const reply = (message: Reply): void => parentPort?.postMessage(message)
parentPort?.on('message', ({ id, text, values }: Question) => {
  database.query(text, values).then(
    ({ rows }) => reply({ id, rows }),
    (error: Error) => reply({ id, error: error.message }),
  )
})
