import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A web server that the identity provider sends the browser back to: any port of localhost (RFC 8252, section 7.3). */
export async function openCallback() {
  // Not at the start of every command: it would load all of Node's `fetch`, for its re-exports.
  const { createServer } = await import('node:http')
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const redirectUri = `http://localhost:${(server.address() as AddressInfo).port}/`
  /** The address that the browser has requested. */
  const returned = new Promise<URL>((resolve) => {
    server.on('request', (request, response) => {
      const url = new URL(redirectUri)
      url.search = /\?.*/.exec(request.url ?? '')?.[0] ?? ''
      const isAnswer = url.searchParams.has('code') || url.searchParams.has('error')
      const text = isAnswer ? 'You can close this window and return to the terminal.' : 'Nothing is here.'
      response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' }).end(text)
      if (isAnswer) resolve(url)
    })
  })
  const close = (): void => {
    server.close()
    // Browsers open connections in advance, which would keep the process alive.
    server.closeAllConnections()
  }
  return { redirectUri, returned, close }
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens the address in the person's browser. A machine without one is no failure: the address is printed, too. */
export function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const opener = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}
