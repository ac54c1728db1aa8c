import { gzipSync } from 'node:zlib'

/**
 * A JSON body that is equal for every request. It is made, serialised and compressed at most once, when it is first needed:
 * a request that needs no token must not cause that work, nor must the start of a process.
 */
export class FixedJson {
  readonly #make: () => unknown
  #bytes?: Buffer
  #gzip?: Buffer

  constructor(make: () => unknown) {
    this.#make = make
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.#make()))
    return this.#bytes
  }

  get gzip(): Buffer {
    this.#gzip ??= gzipSync(this.bytes)
    return this.#gzip
  }
}
