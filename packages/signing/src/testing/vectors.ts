import { readFileSync } from 'node:fs'

interface Vector {
  readonly name: string
  /** The receiver's secret. */
  readonly secret: string
  readonly headers: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>
  readonly body: string
  readonly valid: boolean
}

/** Where receivers in other languages find the vectors, too. */
export const VECTORS_FILE = `${import.meta.dirname}/../../../../docs/signature-vectors.json`

export const { nowSeconds, vectors } = JSON.parse(readFileSync(VECTORS_FILE, 'utf8')) as {
  readonly nowSeconds: number
  readonly vectors: readonly Vector[]
}
