import { gzipSync } from 'node:zlib'

/** A JSON body that is equal for every request: made and compressed once, at its first request and not at the start. */
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
