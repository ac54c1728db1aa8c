import { inflateRawSync } from 'node:zlib'

// The ZIP format, APPNOTE.TXT 4.3: a directory at the end of the file points to the entries.
const END = { count: 10, offset: 16 }
const ENTRY = { size: 46, method: 10, packed: 20, name: 28, extra: 30, comment: 32, offset: 42 }
const LOCAL = { size: 30, name: 26, extra: 28 }
const STORED = 0
const DEFLATED = 8

/**
 * The content of one file of a ZIP archive.
 * @throws if the archive has no such file, or compresses it in another way than "deflate"
 */
export function readZipEntry(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0) throw new Error('this file is not a ZIP archive')
  let at = archive.readUInt32LE(end + END.offset)
  for (let left = archive.readUInt16LE(end + END.count); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + ENTRY.name)
    const nameStart = at + ENTRY.size
    if (archive.toString('utf8', nameStart, nameStart + nameLength) === name) return unpack(archive, at, name)
    at = nameStart + nameLength + archive.readUInt16LE(at + ENTRY.extra) + archive.readUInt16LE(at + ENTRY.comment)
  }
  throw new Error(`the ZIP archive has no ${name}`)
}

function unpack(archive: Buffer, at: number, name: string): Buffer {
  const local = archive.readUInt32LE(at + ENTRY.offset)
  const start =
    local + LOCAL.size + archive.readUInt16LE(local + LOCAL.name) + archive.readUInt16LE(local + LOCAL.extra)
  const packed = archive.subarray(start, start + archive.readUInt32LE(at + ENTRY.packed))
  const method = archive.readUInt16LE(at + ENTRY.method)
  if (method === STORED) return Buffer.from(packed)
  if (method === DEFLATED) return inflateRawSync(packed)
  throw new Error(`${name} is compressed with method ${method}, which is not supported`)
}
