import { gzipSync } from 'node:zlib'
import { sizesOf } from './console.ts'

test('the first load is the page and the files that it names, as they are sent', () => {
  const contentType = 'text/javascript; charset=utf-8'
  const file = (bytes: number, gzip?: number) => ({
    contentType,
    bytes: Buffer.alloc(bytes),
    ...(gzip !== undefined && { gzip: Buffer.alloc(gzip) }),
  })
  const page = '<script type="module" src="./assets/index-abc.js"></script>'
  const assets = new Map([
    ['index-abc.js', file(5_000, 2_000)],
    ['events-def.js', file(900)],
  ])
  const ofPage = gzipSync(page).length
  expect(sizesOf({ page, assets })).toEqual({ firstLoadBytes: ofPage + 2_000, allBytes: ofPage + 2_900 })
})
