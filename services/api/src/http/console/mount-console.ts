import { type ConsoleFiles, loadConsole } from '@switchhook/console'
import { AppError } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { Express } from 'express'
import type { Issuer } from '../auth/issuer.ts'
import { offeredSignIns, type SignInOffer, withOrganization } from '../auth/sign-ins.ts'
import { sendFile } from '../send.ts'

export interface ConsoleOptions {
  readonly files: ConsoleFiles
  readonly issuers: readonly Issuer[]
  readonly hasChooser: boolean
}

/** The console's files and sign-ins; undefined if the console is off or has not been built. */
export function openConsole(
  config: { readonly AUTH_ISSUERS: readonly Issuer[] } & Readonly<Record<'CONSOLE' | 'CONSOLE_CHOOSER', 'on' | 'off'>>,
  log: Pick<Logger, 'info'>,
): ConsoleOptions | undefined {
  if (config.CONSOLE === 'off') return undefined
  const files = loadConsole()
  if (files === undefined) {
    log.info('no console: its files are missing; build them with make console')
    return undefined
  }
  return { files, issuers: config.AUTH_ISSUERS, hasChooser: config.CONSOLE_CHOOSER === 'on' }
}

/**
 * Serves the console at `/console`. Every path below it that is not a file is the page itself, because the browser does
 * the routing. All addresses are relative, so that the console works behind a proxy that strips a path prefix. The files
 * hold no tenant's data, so they need no token.
 */
export function mountConsole(app: Express, { files, issuers, hasChooser }: ConsoleOptions): void {
  const offerTo = (named: readonly string[]) => offeredSignIns(issuers, 'console', { hasChooser, named })

  app.get('/console', (_request, response) => response.redirect(302, 'console/'))
  app.get('/console/config.json', (request, response) => {
    let named = namedIn(request.headers.cookie)
    const organization = new URL(request.originalUrl, 'http://api').searchParams.get('organization')
    if (organization !== null) {
      named = withOrganization(issuers, 'console', named, organization)
      // Without a path it belongs to the folder of this address, also behind a proxy that strips a prefix.
      response.set('Set-Cookie', `${COOKIE}=${encodeURIComponent(JSON.stringify(named))}; HttpOnly; SameSite=Lax`)
    }
    response.json(offerTo(named))
  })
  const kept = { 'Cache-Control': 'public, max-age=31536000, immutable' }
  const assets = new Map([...files.assets].map(([name, path]) => [name, sendFile(path, kept)]))
  app.get('/console/assets/:name', (request, response, next) => {
    const send = assets.get(request.params.name)
    if (send === undefined) throw new AppError('not-found')
    return send(request, response, next)
  })
  const icon = [...files.assets.values()].find((path) => path.endsWith('.svg'))
  // Browsers ask for it on every page, whatever icon the page names.
  if (icon !== undefined) app.get('/favicon.ico', sendFile(icon, { 'Cache-Control': 'public, max-age=86400' }))
  app.get(['/console/', '/console/{*path}'], (request, response) => {
    response.set({
      'Content-Security-Policy': contentSecurityPolicy(issuers, offerTo(namedIn(request.headers.cookie))),
      'Cache-Control': 'no-cache',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    })
    response
      .vary('Cookie')
      .type('html')
      .send(files.page.replace('<base href="./">', `<base href="${baseOf(request.originalUrl)}">`))
  })
}

/** The relative path from a page of the console to its root: `../` for `/console/events/4711`. */
export function baseOf(url: string): string {
  const [path = ''] = url.split('?')
  const depth = path.slice(path.indexOf('/console/') + '/console/'.length).split('/').length - 1
  return depth === 0 ? './' : '../'.repeat(depth)
}

/** Names the organizations that this browser has named, as a JSON array of percent-encoded text. It gives no access. */
const COOKIE = 'switchhook-organizations'

function namedIn(cookies: string | undefined): readonly string[] {
  const [, value = ''] = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(cookies ?? '') ?? []
  try {
    const names: unknown = JSON.parse(decodeURIComponent(value))
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}

/** No inline script or style, no eval. It names only the offered issuers: the host of another one can tell the tenant. */
export function contentSecurityPolicy(issuers: readonly Issuer[], { issuers: offered }: SignInOffer): string {
  const origins = issuers
    .filter(({ issuer }) => offered.some((signIn) => signIn.issuer === issuer))
    .flatMap(({ issuer, console }) => [issuer, ...(console?.origins ?? [])].map((url) => new URL(url).origin))
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
