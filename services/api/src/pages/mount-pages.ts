import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Express, RequestHandler } from 'express'

const resolve = createRequire(import.meta.url).resolve
/** `pages` is a sibling of `src` and `dist`, so the relative path is the same from both. */
const own = (name: string): string => fileURLToPath(new URL(`../../pages/${name}`, import.meta.url))

/** The readable pages of the API documents. */
const PAGES: Readonly<Record<string, string>> = {
  '/api/v1/docs': own('rest.html'),
  '/api/v1/docs/events': own('events.html'),
}

/** The api serves every asset of the pages itself, so that they work in a closed network. */
const ASSETS: Readonly<Record<string, string>> = {
  'pages.css': own('pages.css'),
  'rest.js': own('rest.js'),
  'events.js': own('events.js'),
  'swagger-ui.css': resolve('swagger-ui-dist/swagger-ui.css'),
  'swagger-ui-bundle.js': resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'asyncapi.css': resolve('@asyncapi/react-component/styles/default.min.css'),
  'asyncapi.js': resolve('@asyncapi/react-component/browser/standalone/index.js'),
}

/** Both libraries set styles from scripts. The events page compiles the schemas of its document, which needs eval. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the readable pages of the API documents. They hold no tenant's data, so they need no token. */
export function mountPages(app: Express): void {
  for (const [path, file] of Object.entries(PAGES)) app.get(path, send(file))
  for (const [name, file] of Object.entries(ASSETS)) app.get(`/api/v1/docs/assets/${name}`, send(file))
}

const send =
  (file: string): RequestHandler =>
  (_request, response) => {
    response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'public, max-age=3600' })
    // `dotfiles`: packages may be installed below a folder whose name begins with a dot.
    response.sendFile(file, { cacheControl: false, dotfiles: 'allow' })
  }
