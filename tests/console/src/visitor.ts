import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { readStack } from './stack.ts'

/** Makes a violation of the content security policy an uncaught error. */
const REPORT_VIOLATIONS = `
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    throw new Error('content security policy: ' + violatedDirective + ' ' + blockedURI)
  })
`

/** A person with a browser of their own. Everything that the browser complains about is collected. */
export interface Visitor {
  readonly page: Page
  /** Violations of the content security policy, uncaught errors, and errors on the console. */
  readonly complaints: readonly string[]
  /** Opens a screen of the console, such as `endpoints?show=ill`. */
  readonly open: (path: string) => Promise<void>
  /** Names the organization and signs in. The browser must not know the organization yet. */
  readonly signIn: () => Promise<void>
  /** The findings of axe on the current screen, as text. `colours`: only contrast, which differs between light and dark. */
  readonly audit: (rules: 'all' | 'colours') => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** Details of what passes, and selectors of elements, would take most of the time, and the tests do not read them. */
const VIOLATIONS_ONLY = { resultTypes: ['violations'], selectors: false }

/** The part of axe's results that the tests read. */
interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/** @param person the name of a person of the local identity provider; the password is the name */
export async function visit(browser: Browser, person: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser reports every answer above 399, expected ones too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  await page.addInitScript(REPORT_VIOLATIONS)
  const [tenant = ''] = person.split('-')
  const open = async (path: string): Promise<void> => {
    await page.goto(`${readStack().urls.api}/console/${path}`)
  }
  return {
    page,
    complaints,
    open,
    signIn: async () => {
      if (!page.url().includes('/console/')) await open('')
      await page.getByLabel('Organization').fill(tenant)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: `Sign in to ${tenant}` }).click()
      await page.getByLabel('Name').fill(person)
      await page.getByLabel('Password').fill(person)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('#navigation').waitFor({ state: 'attached' })
    },
    audit: async (rules) => {
      if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(`(() => { ${axe.source} })()`)
      const options = { ...VIOLATIONS_ONLY, ...(rules === 'colours' && { runOnly: ['color-contrast'] }) }
      const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`)
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      )
    },
    close: () => context.close(),
  }
}
