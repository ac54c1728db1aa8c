import { eventually } from '@switchhook/testkit'
import { type Browser, chromium, type Page } from 'playwright-core'
import { call, hangUp, publishEvents, ring } from './stack.ts'
import { type Visitor, visit } from './visitor.ts'

const executablePath = process.env['CHROMIUM'] ?? ''
const scenes = executablePath === '' ? describe.skip : describe

/** Over HTTP/1.1, Chromium opens no more to one host. */
const CONNECTIONS = 6

/** A browser without windows shows every tab, so the page is told. */
const visibility = (isHidden: boolean): string => `
  Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' })
  document.dispatchEvent(new Event('visibilitychange'))
`

scenes('several tabs, hidden tabs and streams that end', () => {
  let browser: Browser
  let visitor: Visitor

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    visitor = await visit(browser, 'acme-admin')
    await visitor.open('agents')
    await visitor.signIn()
    await isLive(visitor.page)
  })

  afterAll(async () => {
    expect(visitor.complaints).toEqual([])
    await browser.close()
  })

  afterEach(async () => {
    await visitor.page.unrouteAll()
    // Also after a failure: they could hold the connections that the next test needs.
    for (const other of visitor.page.context().pages()) if (other !== visitor.page) await other.close()
  })

  const isLive = (page: Page): Promise<void> =>
    page.getByRole('status').getByText('Live', { exact: true }).waitFor({ timeout: 15_000 })

  test('hidden tabs leave the connections to the tab that is shown, and are current when they are shown again', async () => {
    const { page } = visitor
    const session = await page.evaluate<string>(`sessionStorage.getItem('switchhook.session')`)
    const others: Page[] = []
    for (let n = 0; n < CONNECTIONS; n++) {
      const other = await page.context().newPage()
      await other.addInitScript(
        `sessionStorage.setItem('switchhook.session', ${JSON.stringify(session)}); ${visibility(true)}`,
      )
      await other.goto(page.url())
      await other.getByRole('link', { name: 'alice' }).waitFor({ timeout: 15_000 })
      others.push(other)
    }
    const [hidden] = others
    if (hidden === undefined) throw new Error('there is no other tab')
    const { callId } = await ring('sip:alice@acme.example', '+15550193')
    try {
      await page.getByText('+15550193').waitFor()
      expect(await hidden.getByText('+15550193').count()).toBe(0)
      await hidden.evaluate(visibility(false))
      await hidden.getByText('+15550193').waitFor({ timeout: 10_000 })
      await isLive(hidden)
    } finally {
      await hangUp(callId, 'sip:alice@acme.example')
    }
  }, 90_000)

  test('a stream that ends and is back soon raises no alarm', async () => {
    const { page, open } = visitor
    let streams = 0
    await page.route('**/api/v1/webhooks/stream*', async (route) => {
      streams += 1
      const body = 'id: 0-1\nevent: place\ndata: {"place":"0-1"}\n\n'
      if (streams === 1) await route.fulfill({ contentType: 'text/event-stream', body })
      else await route.continue()
    })
    await page.addInitScript(`
      new MutationObserver(() => {
        if (document.body?.textContent.includes('The API does not answer')) globalThis.wasAlarmed = true
      }).observe(document, { childList: true, subtree: true })
    `)
    await open('agents')
    await eventually(() => expect(streams).toBeGreaterThan(1))
    await isLive(page)
    expect(await page.evaluate('globalThis.wasAlarmed')).toBeUndefined()
  }, 60_000)

  test('agents of every page are counted, found and shown', async () => {
    const { page, open } = visitor
    const agents = await call<{ readonly items: readonly object[] }>('GET', '/api/v1/voice/agents?limit=1')
    const leg = { callId: '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11', state: 3, direction: 1, allowedCommands: [] }
    const calls = [{ ...leg, occurredAt: new Date().toISOString(), remoteParty: { number: '+15550191' } }]
    // Making so many takes a stack of its own, so the network answers for them. Only the last one is in a call.
    await page.route('**/api/v1/voice/agents?*', async (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
      const items = Array.from({ length: 100 }, (_, n) => ({
        ...agents.items[0],
        agentUri: `sip:agent-${from + n}@acme.example`,
        calls: from + n === 299 ? calls : [],
      }))
      await route.fulfill({ json: { items, nextCursor: from < 200 ? String(from + 100) : null } })
    })
    await open('agents?show=calls')
    await page.getByText('1 agent in a call.').waitFor()
    await page.getByRole('link', { name: 'agent-299' }).waitFor()
  })

  test('the second click of a double click does nothing', async () => {
    const { page, open } = visitor
    let rings = 0
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/simulator/v1/calls')) rings += 1
    })
    await open('simulator')
    await page.getByLabel('From').fill('+15550192')
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('sip:dana@acme.example')
    await page.getByRole('button', { name: 'Ring' }).dblclick()
    await page.getByText('dana rings.').waitFor()
    const ringing = page.getByRole('table', { name: 'Calls now' }).getByRole('row').filter({ hasText: '+15550192' })
    await ringing.first().waitFor()
    expect(rings).toBe(1)
    await ringing.getByRole('button', { name: 'Hangs up' }).click()
    await ringing.waitFor({ state: 'detached' })
  })

  test('the page and its plot have the colours of the system', async () => {
    const { page, open } = visitor
    await publishEvents(1, 'acme')
    await page.route('**/api/v1/webhooks/statistics?*', async (route) => {
      const at = new Date().toISOString()
      const point = { at, attempts: 9, acknowledged: 9, byOutcome: {}, parked: 0, expired: 0, answerMs: null }
      const points = [{ ...point, delayMs: null }]
      await route.fulfill({ json: { step: '1m', isCounted: true, points, coolDowns: [] } })
    })
    await open('')
    await page.locator('.plot canvas').waitFor()
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const plot = () => page.evaluate<string>(`document.querySelector('.plot canvas').toDataURL()`)
    const [light, lightPlot] = [await background(), await plot()]
    await page.emulateMedia({ colorScheme: 'dark' })
    await eventually(async () => expect(await background()).not.toBe(light))
    await eventually(async () => expect(await plot()).not.toBe(lightPlot))
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(async () => expect([await background(), await plot()]).toEqual([light, lightPlot]))
  })

  test.each(['UTC', 'Europe/Berlin'])('a year is typed over another one, in %s', async (timezoneId) => {
    const { page, open, signIn, close } = await visit(browser, 'acme-admin', { timezoneId })
    await open('events?from=2026-11-20T14:15:00.000Z')
    await signIn()
    const from = page.getByLabel('From', { exact: true })
    const shown = await from.inputValue()
    await from.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    // A person's digits arrive one after the other, and the screen is drawn in between.
    await page.keyboard.type('2025', { delay: 150 })
    await page.waitForURL(/from=2025-11-20T14%3A15/, { timeout: 5_000 })
    expect(await from.inputValue()).toBe(shown.replace('2026', '2025'))
    await close()
  })
})
