import { crc32, deflateRawSync } from 'node:zlib'
import { readZipEntry } from './zip.ts'

/** An archive as the format describes it, with one entry. */
function archiveOf(name: string, content: Buffer, method: number): Buffer {
  const packed = method === 8 ? deflateRawSync(content) : content
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(method, 10)
  entry.writeUInt32LE(crc32(content), 16)
  entry.writeUInt32LE(packed.length, 20)
  entry.writeUInt16LE(name.length, 28)
  const body = Buffer.concat([local, Buffer.from(name), packed])
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(body.length, 16)
  return Buffer.concat([body, entry, Buffer.from(name), end])
}

const content = Buffer.from('a program '.repeat(100))

test.each([0, 8])('reads a file that is stored with method %d', (method) => {
  expect(readZipEntry(archiveOf('helm/helm', content, method), 'helm/helm')).toEqual(content)
})

test('says what is wrong with an archive', () => {
  expect(() => readZipEntry(archiveOf('a', content, 8), 'b')).toThrow('the ZIP archive has no b')
  expect(() => readZipEntry(archiveOf('a', content, 99), 'a')).toThrow('a is compressed with method 99')
  expect(() => readZipEntry(content, 'a')).toThrow('not a ZIP archive')
})
