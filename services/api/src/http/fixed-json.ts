import { gzipSync } from 'node:zlib'

/**
 * A JSON body that is equal for every request. It is serialised and compressed at most once, because a request that needs no
 * token must not cause that work.
 */
export class FixedJson {
  readonly #value: unknown
  #bytes?: Buffer
  #gzip?: Buffer

  constructor(value: unknown) {
    this.#value = value
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.#value))
    return this.#bytes
  }

  get gzip(): Buffer {
    this.#gzip ??= gzipSync(this.bytes)
    return this.#gzip
  }
}
