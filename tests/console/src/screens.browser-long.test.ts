import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Browser, chromium } from 'playwright-core'
import { call, hangUp, ring, subscribe } from './stack.ts'
import { type Visitor, visit } from './visitor.ts'

const executablePath = process.env['CHROMIUM'] ?? ''
const scenes = executablePath === '' ? describe.skip : describe

/** `make pictures` names the folder of docs/console.md. Other runs take no pictures. */
const PICTURES = process.env['PICTURES']

interface Screen {
  readonly name: string
  readonly path: string
  /** A text that is there once the screen is complete. */
  readonly text: string
  /** What the person does before the picture. */
  readonly act?: (visitor: Visitor) => Promise<void>
}

scenes('every screen of the console', () => {
  let browser: Browser
  let receiver: Receiver
  let visitor: Visitor
  let screens: readonly Screen[]

  beforeAll(async () => {
    if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    receiver = await startReceiver()
    screens = await playScene(receiver)
    visitor = await visit(browser, 'acme-admin', { viewport: { width: 1200, height: 720 } })
  }, 90_000)

  afterAll(async () => {
    await browser.close()
    await receiver.close()
  })

  test('the sign-in page', async () => {
    await visitor.open('')
    await visitor.page.getByLabel('Organization').waitFor()
    await look(visitor, 'sign-in')
    await visitor.signIn()
  })

  test('has no finding of axe and no complaint of the browser, in light and dark', async () => {
    for (const screen of screens) {
      await visitor.open(screen.path)
      await visitor.page.locator('main').getByText(screen.text).locator('visible=true').first().waitFor()
      await screen.act?.(visitor)
      await look(visitor, screen.name)
    }
    expect(visitor.complaints).toEqual([])
  }, 240_000)

  test('fits a phone: nothing is wider than the screen', async () => {
    const phone = await visit(browser, 'acme-admin', { viewport: { width: 390, height: 844 } })
    await phone.open('')
    await phone.signIn()
    for (const screen of screens) {
      await phone.open(screen.path)
      await phone.page.locator('main').getByText(screen.text).first().waitFor({ state: 'attached' })
      expect([screen.name, await phone.page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        screen.name,
        390,
      ])
    }
    await phone.open(screens[0]?.path ?? '')
    await phone.page.getByText('Needs attention').waitFor()
    await look(phone, 'phone')
    await phone.page.getByRole('button', { name: 'Menu' }).click()
    await phone.page.getByRole('link', { name: 'Agents' }).click()
    await phone.page.getByRole('heading', { name: 'Agents' }).waitFor()
    expect(phone.complaints).toEqual([])
    await phone.close()
  }, 120_000)
})

/** Audits the screen and takes its picture, in light and dark. */
async function look({ page, audit }: Visitor, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const findings = await audit(colorScheme === 'light' ? 'all' : 'colours')
    expect([name, colorScheme, findings]).toEqual([name, colorScheme, []])
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** A contact center with one endpoint that works, one that refuses, one that hangs, and one that is disabled. */
async function playScene(receiver: Receiver): Promise<readonly Screen[]> {
  receiver.answer('/crm', { status: 204 })
  receiver.answer('/warehouse', { status: 401, body: '{"error":"the API key has expired"}' })
  receiver.answer('/tickets', { instead: 'hang' })
  const both = ['call.status', 'agent.status']
  const crm = await subscribe(receiver.url('/crm'), 'CRM, production', 'acme', both)
  const warehouse = await subscribe(receiver.url('/warehouse'), 'Data warehouse')
  const tickets = await subscribe(receiver.url('/tickets'), 'Ticket system')
  const reporting = await subscribe(receiver.url('/reporting'), 'Reporting')
  await call('PATCH', `/api/v1/webhooks/subscriptions/${reporting.id}`, { enabled: false })

  for (const [agent, from] of [
    ['alice', '+15550147'],
    ['bob', '+15550162'],
    ['dana', '+15550175'],
  ] as const) {
    const agentUri = `sip:${agent}@acme.example`
    const { callId } = await ring(agentUri, from)
    await call('POST', `/api/v1/voice/calls/${callId}/answer`, { agentUri })
    await eventually(() => hangUp(callId, agentUri))
  }
  // These calls go on.
  const held = await ring('sip:emil@acme.example', '+15550190')
  const body = { agentUri: 'sip:emil@acme.example' }
  await call('POST', `/api/v1/voice/calls/${held.callId}/answer`, body)
  await eventually(() => call('POST', `/api/v1/voice/calls/${held.callId}/hold`, body))
  await ring('sip:fay@acme.example', '+15550103')

  const parked = await eventually(async () => {
    const { items } = await call<Page>('GET', `/api/v1/webhooks/subscriptions/${warehouse.id}/deliveries`)
    if (items.length < 9) throw new Error(`only ${items.length} deliveries are parked`)
    return items
  })
  const recovery = await call<{ readonly recoveryId: string }>(
    'POST',
    `/api/v1/webhooks/subscriptions/${warehouse.id}/recover`,
    { maxPerSecond: 1 },
  )
  const eventId = parked[0]?.eventId ?? ''
  return [
    { name: 'overview', path: '', text: 'Attempts per minute', act: drawn },
    { name: 'endpoints', path: 'endpoints', text: 'Data warehouse' },
    { name: 'endpoint', path: `endpoints/${tickets.id}`, text: 'Ticket system' },
    {
      name: 'statistics',
      path: `endpoints/${tickets.id}?tab=statistics`,
      text: 'Cool-down: nothing is sent',
      act: drawn,
    },
    {
      name: 'check',
      path: `endpoints/${crm.id}?tab=check`,
      text: 'Receiver check',
      act: async ({ page }) => {
        await page.getByRole('button', { name: 'Check the receiver' }).click()
        await page.getByText('The receiver needs work.').waitFor()
      },
    },
    { name: 'settings', path: `endpoints/${crm.id}?tab=settings`, text: 'subscription.created' },
    { name: 'events', path: 'events?q=%2B15550147', text: 'Events of the phone number' },
    { name: 'explain', path: `events/${eventId}`, text: 'the endpoint answered 401 after' },
    { name: 'deliveries', path: 'deliveries?state=waiting', text: 'waiting' },
    { name: 'parked', path: 'parked', text: 'answered 401' },
    {
      name: 'recover',
      path: 'parked',
      text: 'answered 401',
      act: async ({ page }) => {
        await page.getByRole('button', { name: 'Recover' }).first().click()
        await page.getByText('It pauses while', { exact: false }).waitFor()
      },
    },
    { name: 'recoveries', path: 'recoveries', text: 'Data warehouse' },
    { name: 'recovery', path: `recoveries/${recovery.recoveryId}`, text: 'Remaining' },
    {
      name: 'live',
      path: 'live',
      text: 'Live',
      act: async ({ page }) => {
        await page.getByText('Waiting for the next message.').waitFor()
        const { callId } = await ring('sip:bob@acme.example', '+15550131')
        await page.getByText('bob alerting, +15550131').waitFor()
        await hangUp(callId, 'sip:bob@acme.example')
        await page.getByText('bob ended, +15550131').waitFor()
      },
    },
    { name: 'agents', path: 'agents', text: 'held' },
    { name: 'simulator', path: 'simulator', text: 'A customer calls' },
    { name: 'audit', path: 'audit', text: 'subscription.created' },
  ]
}

/** The library of the plots is loaded with the first one. */
const drawn = async ({ page }: Visitor): Promise<void> => {
  await page.locator('.plot canvas').first().waitFor()
}

interface Page {
  readonly items: readonly { readonly eventId: string }[]
}
