import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Express, RequestHandler } from 'express'

const resolve = createRequire(import.meta.url).resolve
/** The files lie beside `src` and `dist`, at the same distance from both. */
const own = (name: string): string => fileURLToPath(new URL(`../../pages/${name}`, import.meta.url))

/** Where people read the documents. */
const PAGES: Readonly<Record<string, string>> = {
  '/api/v1/docs': own('rest.html'),
  '/api/v1/docs/events': own('events.html'),
}

/** All that a page needs comes from here: it works where nothing else can be reached. */
const ASSETS: Readonly<Record<string, string>> = {
  'pages.css': own('pages.css'),
  'rest.js': own('rest.js'),
  'events.js': own('events.js'),
  'swagger-ui.css': resolve('swagger-ui-dist/swagger-ui.css'),
  'swagger-ui-bundle.js': resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'asyncapi.css': resolve('@asyncapi/react-component/styles/default.min.css'),
  'asyncapi.js': resolve('@asyncapi/react-component/browser/standalone/index.js'),
}

/** Both libraries set styles from scripts; the events' one compiles the schemas of its document, which takes eval. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the readable pages of the API's documents. They need no token: they hold nobody's data. */
export function mountPages(app: Express): void {
  for (const [path, file] of Object.entries(PAGES)) app.get(path, send(file))
  for (const [name, file] of Object.entries(ASSETS)) app.get(`/api/v1/docs/assets/${name}`, send(file))
}

const send =
  (file: string): RequestHandler =>
  (_request, response) => {
    response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'public, max-age=3600' })
    // Packages may be installed below a folder whose name begins with a dot.
    response.sendFile(file, { cacheControl: false, dotfiles: 'allow' })
  }
