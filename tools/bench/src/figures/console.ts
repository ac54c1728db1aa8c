import { performance } from 'node:perf_hooks'
import { gzipSync } from 'node:zlib'
import { type ConsoleFile, type ConsoleFiles, loadConsole } from '@switchhook/console'
import { BackingUnavailable, chromiumBinary } from '@switchhook/test-servers'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Bench } from '../bench.ts'
import { median, round } from '../measure/statistics.ts'

const RUNS = 7
const PERSON = 'acme-viewer'

/** Times of one screen in Chromium, in ms from the start of the navigation: medians. */
interface ScreenTimes {
  readonly screen: string
  /** The first text or picture (first contentful paint). */
  readonly firstPaintMs: number
  /** All that the screen shows first is there. */
  readonly completeMs: number
}

export interface ConsoleFigure {
  /** Bytes with gzip: what the sign-in page loads, and all files. */
  readonly firstLoadBytes: number
  readonly allBytes: number
  /** Null without a Chromium. */
  readonly screens: readonly ScreenTimes[] | null
}

/** Sizes of the built console, and how soon a person sees something in Chromium on this machine, without a network. */
export async function measureConsole({ stack, say }: Bench): Promise<ConsoleFigure | undefined> {
  const files = loadConsole()
  if (files === undefined) {
    say('  not measured: the console is not built (make console)')
    return undefined
  }
  const sizes = sizesOf(files)
  say(`  first load ${kib(sizes.firstLoadBytes)} KiB, all files ${kib(sizes.allBytes)} KiB, with gzip`)
  const screens = await withBrowser(say, (browser) => timeScreens(browser, `${stack.urls.apis[0] ?? ''}/console/`))
  for (const { screen, firstPaintMs, completeMs } of screens ?? [])
    say(`  ${screen}: first paint after ${firstPaintMs} ms, complete after ${completeMs} ms`)
  return { ...sizes, screens }
}

/** The page names the files that it loads first. */
export function sizesOf({ page, assets }: ConsoleFiles): Pick<ConsoleFigure, 'firstLoadBytes' | 'allBytes'> {
  const sum = (files: readonly (readonly [string, ConsoleFile])[]): number =>
    files.reduce((total, [, file]) => total + sent(file), gzipSync(page).length)
  const all = [...assets]
  return { firstLoadBytes: sum(all.filter(([name]) => page.includes(name))), allBytes: sum(all) }
}

const sent = ({ gzip, bytes }: ConsoleFile): number => (gzip ?? bytes).length

const kib = (bytes: number): number => round(bytes / 1_024)

async function withBrowser<T>(say: Bench['say'], use: (browser: Browser) => Promise<T>): Promise<T | null> {
  let executablePath: string
  try {
    executablePath = await chromiumBinary(say)
  } catch (error) {
    if (!(error instanceof BackingUnavailable)) throw error
    say(`  first paint not measured: ${error.message}`)
    return null
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    return await use(browser)
  } finally {
    await browser.close()
  }
}

async function timeScreens(browser: Browser, address: string): Promise<readonly ScreenTimes[]> {
  const signIn: Times[] = []
  for (let run = 0; run < RUNS; run++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    signIn.push(await timeOf(page, () => page.goto(address), SIGN_IN))
    await context.close()
  }
  const page = await (await browser.newContext()).newPage()
  await signInTo(page, address)
  const session = await page.context().newCDPSession(page)
  const overview = { cold: [] as Times[], warm: [] as Times[] }
  for (let run = 0; run < RUNS; run++) {
    await session.send('Network.clearBrowserCache')
    overview.cold.push(await timeOf(page, () => page.reload(), OVERVIEW))
    overview.warm.push(await timeOf(page, () => page.reload(), OVERVIEW))
  }
  return [
    screenOf('sign-in, empty cache', signIn),
    screenOf('overview, empty cache', overview.cold),
    screenOf('overview, filled cache', overview.warm),
  ]
}

interface Times {
  readonly firstPaintMs: number
  readonly completeMs: number
}

const SIGN_IN = 'text=Sign in to acme'
/** A tile of the overview, which appears with the answers of the api. */
const OVERVIEW = '.tiles'

async function timeOf(page: Page, navigate: () => Promise<unknown>, complete: string): Promise<Times> {
  const startedAt = performance.now()
  await Promise.all([navigate(), page.locator(complete).first().waitFor()])
  const completeMs = performance.now() - startedAt
  const firstPaintMs = await page.evaluate<number>(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0',
  )
  return { firstPaintMs, completeMs }
}

async function signInTo(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.locator(SIGN_IN).click()
  await page.getByLabel('Name').fill(PERSON)
  await page.getByLabel('Password').fill(PERSON)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator(OVERVIEW).first().waitFor()
}

const screenOf = (screen: string, times: readonly Times[]): ScreenTimes => ({
  screen,
  firstPaintMs: round(median(times.map(({ firstPaintMs }) => firstPaintMs)), 0),
  completeMs: round(median(times.map(({ completeMs }) => completeMs)), 0),
})
