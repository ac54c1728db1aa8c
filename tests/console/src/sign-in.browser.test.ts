import { eventually } from '@switchhook/testkit'
import { type Browser, chromium, type Page } from 'playwright-core'
import { readStack } from './stack.ts'
import { type Visitor, visit } from './visitor.ts'

const executablePath = process.env['CHROMIUM'] ?? ''
/** Without a Chromium the run has said so. */
const scenes = executablePath === '' ? describe.skip : describe

interface Session {
  readonly id: string
  readonly renewAtMs: number
  readonly accessToken: string
  readonly refreshToken: string
}

scenes('signing in to the console and out of it', () => {
  let browser: Browser
  let visitor: Visitor

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })

  afterAll(() => browser.close())

  beforeEach(async () => {
    visitor = await visit(browser, 'acme-admin')
  })

  afterEach(async () => {
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('a stranger sees no tenant, names an organization, and signs in to it; the browser knows it afterwards', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await page.getByLabel('Organization').waitFor()
    expect(await page.content()).not.toMatch(/acme|globex/i)
    await page.getByLabel('Organization').fill('initech')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Nobody signs in here as initech.', { exact: false }).waitFor()
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()

    const tab = await openTab()
    await tab.getByRole('button', { name: 'Sign in to acme' }).waitFor()
    expect(await tab.content()).not.toMatch(/globex/i)
    await tab.getByLabel('Another organization').fill('Globex')
    await tab.getByRole('button', { name: 'Continue' }).click()
    await tab.getByRole('button', { name: 'Sign in to globex' }).waitFor()
    await tab.getByRole('button', { name: 'Sign in to acme' }).waitFor()
  })

  test('a session ends with the tab, is renewed by the refresh token, and its tokens are in no address', async () => {
    const { page, open, signIn } = visitor
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    const before = await session()
    await expireToken()
    await page.reload()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await eventually(async () => expect((await session()).accessToken).not.toBe(before.accessToken))
    await signOut()
    // The page leaves for the identity provider and comes back, which ends a script that runs meanwhile.
    const stored = () => page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
    await eventually(async () => {
      const text = await stored()
      for (const token of [before.accessToken, before.refreshToken]) expect(text).not.toContain(token)
      expect(text).not.toContain('switchhook.session')
    })
    for (const token of [before.accessToken, before.refreshToken]) {
      expect(addresses.filter((address) => address.includes(token))).toEqual([])
    }
  })

  test('a duplicated tab does not use the refresh token of the first, whose session goes on', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    const tab = await duplicate()
    await tab.getByRole('heading', { name: 'Audit' }).waitFor()

    await eventually(async () => expect((await session(tab)).refreshToken).toBeUndefined())
    await renews(page)
    // With the token that the first tab has just used, the identity provider would end the session of both.
    await expireToken(tab)
    await tab.reload()
    await tab.getByRole('button', { name: 'Sign in to acme' }).click()
    await tab.getByRole('heading', { name: 'Audit' }).waitFor()
    for (const one of [page, tab]) await renews(one)
  })

  test('when the first tab is closed, a duplicated tab that nobody has opened yet takes its session over', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    const tab = await duplicate({ opened: false })
    await page.close()
    await tab.goto(`${readStack().urls.api}/console/audit`)
    await tab.getByRole('heading', { name: 'Audit' }).waitFor()
    await renews(tab)
  })

  test('a session that an earlier version stored without an id keeps its refresh token beside others of its kind', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    const tab = await openTab()
    await tab.evaluate(
      `new Promise((held) => navigator.locks.request('switchhook.session.undefined', () => (held(), new Promise(() => {}))))`,
    )
    const { id: _, renewAtMs: __, ...earlier } = await session()
    await page.evaluate(`sessionStorage.setItem('switchhook.session', ${JSON.stringify(JSON.stringify(earlier))})`)
    await page.reload()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await eventually(async () => {
      expect(await session()).toMatchObject({ id: expect.any(String), renewAtMs: expect.any(Number) })
    })
    await renews(page)
  })

  test('a browser that is slow to answer for locks costs no refresh token', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await page.addInitScript(`
      const request = navigator.locks.request.bind(navigator.locks)
      navigator.locks.request = async (...values) => {
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        return request(...values)
      }
    `)
    await renews(page)
    expect((await session()).refreshToken).toEqual(expect.any(String))
  })

  test('an invented redirect of an issuer ends no session', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await open('?code=invented&state=invented')
    await open('audit')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await open('?code=invented&state=invented')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.getByText('begun in another tab').count()).toBe(0)
  })

  test('a session whose issuer is not offered any more ends with the reason, and the person can sign in again', async () => {
    const { page, open, signIn } = visitor
    await open('audit')
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    // The service offers an issuer to a browser that knows its organization.
    await page.context().clearCookies()
    await expireToken()
    await page.reload()
    await page.getByText('people no longer sign in here with', { exact: false }).waitFor()
    await signIn()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
  })

  test('signing out ends the session at the identity provider and revokes the refresh token', async () => {
    const { page, signIn } = visitor
    await signIn()
    // The identity provider knows the person: another tab needs no password.
    const before = await openTab()
    await before.getByRole('button', { name: 'Sign in to acme' }).click()
    await before.locator('#navigation').waitFor({ state: 'attached' })
    await before.close()
    const { refreshToken } = await session()

    const atProvider = page.waitForRequest((request) => request.url().includes('/session/end?'))
    await signOut()
    expect((await atProvider).url()).toContain('id_token_hint=')
    expect(new URL(page.url()).pathname).toBe('/console/')

    const after = await openTab()
    await after.getByRole('button', { name: 'Sign in to acme' }).click()
    await after.getByLabel('Password').waitFor()
    const answer = await fetch(`${readStack().urls.devIdp}/acme/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'console', refresh_token: refreshToken }),
    })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_grant' }])
  })

  test('signing out works while the identity provider does not answer', async () => {
    const { page, signIn } = visitor
    await signIn()
    await page.route(`${readStack().urls.devIdp}/**`, (route) => route.abort())
    await signOut()
    expect(await page.evaluate('sessionStorage.getItem("switchhook.session")')).toBeNull()
    await page.reload()
    await page.getByText('You are signed out.').waitFor()
  })

  test('a page without https says that signing in needs https', async () => {
    const { page, open } = visitor
    // As a browser does it for other hosts than this machine.
    await page.addInitScript(`
      Object.defineProperty(globalThis, 'isSecureContext', { value: false })
      Object.defineProperty(crypto, 'subtle', { value: undefined })
    `)
    await open('')
    await page.getByLabel('Organization').fill('acme')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Sign in to acme' }).click()
    await page.getByText('Browsers let people sign in over https only.', { exact: false }).waitFor()
  })

  async function openTab(): Promise<Page> {
    const tab = await visitor.page.context().newPage()
    await tab.goto(`${readStack().urls.api}/console/`)
    return tab
  }

  /** As browsers do it: the new tab begins with a copy of the session storage. */
  async function duplicate({ opened = true } = {}): Promise<Page> {
    const { page } = visitor
    const stored = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')
    const tab = await page.context().newPage()
    // A page of the same origin that runs no script of the console.
    await tab.goto(`${readStack().urls.api}/console/config.json`)
    await tab.evaluate(`Object.assign(sessionStorage, ${stored})`)
    if (opened) await tab.goto(page.url())
    return tab
  }

  async function signOut(): Promise<void> {
    const { page } = visitor
    await page.getByRole('button', { name: 'acme-admin' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
  }

  async function renews(page: Page): Promise<void> {
    const { accessToken } = await session(page)
    await expireToken(page)
    await page.reload()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await eventually(async () => expect((await session(page)).accessToken).not.toBe(accessToken))
  }

  async function expireToken(page = visitor.page): Promise<void> {
    await page.evaluate(`sessionStorage.setItem('switchhook.session',
      JSON.stringify({ ...JSON.parse(sessionStorage.getItem('switchhook.session')), expiresAtMs: 0, renewAtMs: 0 }))`)
  }

  async function session(page = visitor.page): Promise<Session> {
    return JSON.parse(await page.evaluate('sessionStorage.getItem("switchhook.session")')) as Session
  }
})
