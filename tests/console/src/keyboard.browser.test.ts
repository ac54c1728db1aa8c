import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Browser, chromium, type Page } from 'playwright-core'
import { enter, focused, press, tabTo } from './keyboard.ts'
import { call, callAndHangUp, subscribe } from './stack.ts'
import { type Visitor, visit } from './visitor.ts'

const executablePath = process.env['CHROMIUM'] ?? ''
/** Without a Chromium the run has said so. */
const scenes = executablePath === '' ? describe.skip : describe

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'

scenes('the console by keyboard', () => {
  let browser: Browser
  let receiver: Receiver
  let visitor: Visitor

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    receiver = await startReceiver()
  })

  afterAll(async () => {
    await browser.close()
    await receiver.close()
  })

  afterEach(async () => {
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  async function arrive(person: string, path: string): Promise<Page> {
    visitor = await visit(browser, person)
    await visitor.open(path)
    await visitor.signIn()
    return visitor.page
  }

  test('the keyboard alone is enough', async () => {
    const { id } = await subscribe(receiver.url('/typed'), 'Typed')
    await callAndHangUp('sip:bob@acme.example', '+15550188')
    const page = await arrive('acme-operator', '')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    // The shortcut of the search box, then Enter on the first result.
    await page.keyboard.press('/')
    await page.keyboard.type('+15550188')
    await page.keyboard.press('Enter')
    const found = page.getByRole('table', { name: 'Events' }).getByRole('link', { name: 'call.status' }).first()
    await found.waitFor()
    await press(page, 'call.status')
    await page.getByRole('heading', { name: 'call.status' }).waitFor()
    // A dialog takes the focus, and gives it back.
    await visitor.open(`endpoints/${id}`)
    await page.getByRole('button', { name: 'Backfill' }).waitFor()
    await press(page, 'Backfill')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await focused(page)).name).toBe('Backfill')
    await call('DELETE', `/api/v1/webhooks/subscriptions/${id}`)
  })

  test('a pause by keyboard; before it resumes, the person sees what will be sent', async () => {
    const { id } = await subscribe(receiver.url('/paused'), 'Pausable')
    const page = await arrive('acme-admin', `endpoints/${id}`)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await press(page, 'Pause')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('deliveries are held', { exact: false }).waitFor()
    await press(page, 'Pause')
    await page.getByText('Paused', { exact: true }).waitFor()
    // The button is another one now, at the same place.
    await eventually(async () => expect((await focused(page)).name).toBe('Resume'))
    await callAndHangUp('sip:alice@acme.example', '+15550177')
    await page.getByText(/deliver(y|ies) held; the first was due/).waitFor({ timeout: 20_000 })
    // A call of another test may have ended before the pause.
    expect(receiver.requests('/paused').filter(({ body }) => body.includes('+15550177'))).toEqual([])
    await press(page, 'Resume')
    await dialog.getByText(/^\d+ call\.status$/).waitFor()
    await press(page, /^Resume and send \d+ deliver/)
    await receiver.waitFor(3, '/paused', { timeoutMs: 60_000 })
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await call('DELETE', `/api/v1/webhooks/subscriptions/${id}`)
  })

  test('a setting that is refused is marked and has the focus, and nothing that was entered is lost', async () => {
    const taken = await call<{ readonly id: string }>('POST', SUBSCRIPTIONS, {
      url: receiver.url('/taken'),
      eventTypes: ['call.status'],
      externalId: 'crm',
    })
    const page = await arrive('acme-admin', 'endpoints')
    const dialog = page.getByRole('dialog')
    const isAt = (name: string, description: RegExp) =>
      eventually(async () =>
        expect(await focused(page)).toMatchObject({
          name,
          description: expect.stringMatching(description),
          isInvalid: true,
        }),
      )
    await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
    await press(page, 'Add an endpoint')
    await dialog.waitFor()
    await enter(page, 'URL', receiver.url('/settings'))
    await enter(page, 'Description', 'Keyed')
    await enter(page, 'External id', 'crm')
    await enter(page, 'Expire after', '300')
    await tabTo(page, /^Recover rejected deliveries/)
    await page.keyboard.press('Space')
    await enter(page, 'In flight at most', '0')
    await enter(page, 'Headers', 'Host: elsewhere\nAuthorization: Bearer 3fQ9')
    await tabTo(page, /^\* All event types/)
    await page.keyboard.press('Space')
    await enter(page, 'Filter', '{"call.status": {"stat": [3]}}')

    // The browser refuses the number, and says why; the hint says what is allowed.
    await press(page, 'Add')
    await isAt('In flight at most', /1 to 1,000/)
    await enter(page, 'In flight at most', '4')
    // The API refuses the rest, one thing after the other.
    await press(page, 'Add')
    await isAt('Headers', /^host cannot be set/)
    await tabTo(page, 'Filter')
    await isAt('Filter', /did you mean "state"/)
    await enter(page, 'Filter', '{"call.status": {"state": [3, 7]}}')
    expect(await focused(page)).toMatchObject({ description: expect.stringMatching(/^Optional/), isInvalid: false })
    await press(page, 'Try it on past events')
    await dialog.getByText(/would be delivered|has no event of these types/).waitFor()
    await enter(page, 'Headers', 'Authorization: Bearer 3fQ9\nauthorization: Bearer 4')
    await press(page, 'Add')
    await isAt('Headers', /^authorization has two lines/)
    await enter(page, 'Headers', 'Authorization: Bearer 3fQ9')
    await press(page, 'Add')
    await isAt('External id', /has this externalId/)
    await enter(page, 'External id', 'crm-2')
    await page.keyboard.press('Enter')

    // The secret is not shown again, so Escape does not close it.
    await dialog.getByRole('button', { name: 'I have stored the secret' }).waitFor()
    await page.keyboard.press('Escape')
    await press(page, 'I have stored the secret')
    await dialog.waitFor({ state: 'detached' })
    await eventually(async () => expect((await focused(page)).name).toBe('Keyed'))
    const found = await call<readonly { readonly id: string }[]>('GET', `${SUBSCRIPTIONS}?externalId=crm-2`)
    expect(found).toMatchObject([
      {
        url: receiver.url('/settings'),
        expireAfterSeconds: 300,
        recoverRejected: true,
        maxInFlight: 4,
        headers: { authorization: '***' },
        eventTypes: ['*'],
        filter: { 'call.status': { state: [3, 7] } },
      },
    ])

    await press(page, 'Edit')
    await dialog.waitFor()
    await enter(page, 'URL', 'http://127.0.0.1:1/elsewhere')
    await page.keyboard.press('Enter')
    await isAt('Headers', /enter the value of authorization again/)
    // What was entered is not lost by Escape.
    await page.keyboard.press('Escape')
    await press(page, 'Cancel')
    await dialog.waitFor({ state: 'detached' })
    expect((await focused(page)).name).toBe('Edit')

    // While the dialog is open, another person changes another field. That change stays.
    const path = `${SUBSCRIPTIONS}/${found[0]?.id}`
    await press(page, 'Edit')
    await dialog.waitFor()
    await call('PATCH', path, { expireAfterSeconds: 600 })
    await enter(page, 'Per second at most', '9')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await call('GET', path)).toMatchObject({ expireAfterSeconds: 600, maxPerSecond: 9, maxInFlight: 4 })
    await remove(page)
    await call('DELETE', `${SUBSCRIPTIONS}/${taken.id}`)
  }, 90_000)

  test('a pull subscription needs no URL, and a pause until a time says when it ends', async () => {
    const page = await arrive('acme-admin', 'endpoints')
    const dialog = page.getByRole('dialog')
    await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
    await press(page, 'Add an endpoint')
    await dialog.waitFor()
    await tabTo(page, 'Deliveries are')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    await enter(page, 'Description', 'Received')
    await enter(page, 'Delete after', '86400')
    await press(page, 'Add')
    await dialog.getByRole('button', { name: 'I have stored the secret' }).waitFor()
    await press(page, 'I have stored the secret')
    await page.getByText('No client receives.', { exact: false }).waitFor()
    expect(await call('GET', SUBSCRIPTIONS)).toContainEqual(
      expect.objectContaining({ description: 'Received', deleteAfterUnusedSeconds: 86_400 }),
    )
    await tabTo(page, 'Check the receiver')
    expect((await focused(page)).description).toBe('Clients receive its deliveries.')

    await press(page, 'Pause')
    await dialog.waitFor()
    await tabTo(page, 'For')
    await page.keyboard.press('ArrowDown')
    // The clock of the person's computer is an hour slow.
    await page.clock.setFixedTime(Date.now() - 3_600_000)
    await press(page, 'Pause')
    await page.getByText('It resumes automatically at', { exact: false }).waitFor()
    const endpoints = await call<{ description: string | null; pausedUntil: string | null }[]>('GET', SUBSCRIPTIONS)
    const pausedUntil = endpoints.find(({ description }) => description === 'Received')?.pausedUntil
    expect(Math.abs(Date.parse(String(pausedUntil)) - Date.now() - 900_000)).toBeLessThan(60_000)
    await press(page, 'Resume')
    await dialog.waitFor()
    await press(page, 'Resume')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await remove(page)
  })
})

/** Deletes the endpoint of the screen. */
async function remove(page: Page): Promise<void> {
  await press(page, 'Delete')
  await page.getByRole('dialog').waitFor()
  await press(page, 'Delete for good')
  await eventually(async () => expect((await focused(page)).name).toBe('Endpoints'))
}
