import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { sendFile } from '../send.ts'
import { startHttpServer } from '../server/http-server.ts'

test('a file that could not be read once is read again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  const file = join(folder, 'page.html')
  const app = express()
  app.get('/page', sendFile(file))
  const server = await startHttpServer(0, app)
  const status = async (): Promise<number> => (await fetch(`http://127.0.0.1:${server.port}/page`)).status
  try {
    expect(await status()).toBe(500)
    writeFileSync(file, '<p>here</p>')
    expect(await status()).toBe(200)
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
})
