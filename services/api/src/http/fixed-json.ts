import { gzipSync } from 'node:zlib'

/**
 * A JSON body that is equal for every request. It is made and compressed once, when it is first needed: neither the start of
 * a process nor each request, which may need no token, must cause that work.
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
