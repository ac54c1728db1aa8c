import type { CDPSession, Page } from 'playwright-core'

/** What has the focus, as a screen reader reads it. */
interface Focused {
  readonly name: string
  readonly description: string
  readonly value: string
  readonly isInvalid: boolean
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** One for each page: a browser without a session that reads the tree would build it again for every question. */
async function readTree(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Accessibility.enable')
  return session
}

export async function focused(page: Page): Promise<Focused> {
  const opening = sessions.get(page) ?? readTree(page)
  sessions.set(page, opening)
  const session = await opening
  const { result } = await session.send('Runtime.evaluate', { expression: 'document.activeElement' })
  const { objectId = '' } = result
  const { nodes } = await session.send('Accessibility.getPartialAXTree', { objectId, fetchRelatives: false })
  const [{ name, description, value, properties = [] } = {}] = nodes
  return {
    name: String(name?.value ?? ''),
    description: String(description?.value ?? ''),
    value: String(value?.value ?? ''),
    isInvalid: properties.some((property) => property.name === 'invalid' && property.value.value === 'true'),
  }
}

export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    const { name: found } = await focused(page)
    if (typeof name === 'string' ? found === name : name.test(found)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${name}`)
}

export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

/** Replaces what the field has. */
export async function enter(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}
