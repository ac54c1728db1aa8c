import type { ConsoleFile, ConsoleFiles } from '@switchhook/console'
import { AppError } from '@switchhook/contracts'
import type { Express, Request, Response } from 'express'
import type { Issuer } from '../auth/issuer.ts'

export interface ConsoleOptions {
  readonly files: ConsoleFiles
  readonly issuers: readonly Issuer[]
}

/**
 * Serves the console at `/console`. Every path below it that is not a file is the page itself, because the browser does
 * the routing. All addresses are relative, so that the console works behind a proxy that strips a path prefix. The files
 * hold no tenant's data, so they need no token.
 */
export function mountConsole(app: Express, { files, issuers }: ConsoleOptions): void {
  const policy = contentSecurityPolicy(issuers)
  const config = JSON.stringify({ issuers: signInsOf(issuers) })

  app.get('/console', (_request, response) => response.redirect(302, 'console/'))
  app.get('/console/config.json', (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('json').send(config)
  })
  app.get('/console/assets/:name', (request, response) => {
    const file = files.assets.get(request.params.name)
    if (file === undefined) throw new AppError('not-found')
    response.set('Cache-Control', 'public, max-age=31536000, immutable')
    sendCompressed(request, response, file)
  })
  app.get(['/console/', '/console/{*path}'], (request, response) => {
    response.set({
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-cache',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    })
    response.type('html').send(files.page.replace('<base href="./">', `<base href="${baseOf(request.originalUrl)}">`))
  })
}

/** The relative path from a page of the console to its root: `../` for `/console/events/4711`. */
export function baseOf(url: string): string {
  const [path = ''] = url.split('?')
  const depth = path.slice(path.indexOf('/console/') + '/console/'.length).split('/').length - 1
  return depth === 0 ? './' : '../'.repeat(depth)
}

/** What the sign-in page needs of each issuer that has a client for the console. */
function signInsOf(issuers: readonly Issuer[]): readonly object[] {
  return issuers.flatMap(({ issuer, tenant, console }) =>
    console === undefined
      ? []
      : [{ issuer, clientId: console.clientId, scope: console.scope, name: tenant ?? 'Installation' }],
  )
}

/** Strict: no inline script or style, no eval. The browser calls the api, and the issuers for tokens. */
export function contentSecurityPolicy(issuers: readonly Issuer[]): string {
  const origins = issuers.flatMap(({ issuer, console }) =>
    console === undefined ? [] : [issuer, ...(console.origins ?? [])].map((url) => new URL(url).origin),
  )
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ['connect-src', "'self'", ...new Set(origins)].join(' '),
    // The page's own base element.
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function sendCompressed(request: Request, response: Response, { contentType, bytes, brotli, gzip }: ConsoleFile): void {
  response.set({ 'Content-Type': contentType, Vary: 'Accept-Encoding' })
  const accepts = (encoding: string): boolean => request.acceptsEncodings(encoding) === encoding
  if (brotli !== undefined && accepts('br')) response.set('Content-Encoding', 'br').end(brotli)
  else if (gzip !== undefined && accepts('gzip')) response.set('Content-Encoding', 'gzip').end(gzip)
  else response.end(bytes)
}
