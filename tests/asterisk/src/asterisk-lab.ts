import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Observer, RealTimeMemory } from '@switchhook/conformance'
import { asteriskFiles, createSipPhone, openOutsideWorld, privateAsterisk, type SipPhone } from '@switchhook/pbx'
import type { PbxAgent } from '@switchhook/platform-asterisk'
import { openHome } from '@switchhook/test-servers'
import { startTcpProxy } from '@switchhook/testkit'
import { createAri } from './ari.ts'
import { type LabHarness, openHarness, PEOPLE, soon } from './lab-harness.ts'

const RING_SECONDS = 2
const START_WITHIN_MS = 60_000

export type AsteriskLab = Awaited<ReturnType<typeof openAsteriskLab>>

/**
 * A real Asterisk with phones and an outside world, for the tests of one file.
 * @throws AsteriskUnavailable
 */
async function openAsteriskLab() {
  const root = await asteriskFiles()
  const folder = mkdtempSync(join(tmpdir(), 'asterisk-lab-'))
  const asterisk = await privateAsterisk(openHome(folder), root, PEOPLE)
  await asterisk.start()
  const { url, password, phonesUrl: phones } = asterisk
  const ari = createAri(url, asterisk.user, password)
  const proxy = await startTcpProxy(url.href)
  let world = await openOutsideWorld(url, password)
  const phoneOf = new Map(
    PEOPLE.map(({ name }) => [name, createSipPhone({ name, password, url: phones, understands: ['talk', 'header'] })]),
  )
  const phone = (name: string): SipPhone => {
    const found = phoneOf.get(name)
    if (found === undefined) throw new Error(`there is no phone of ${name}`)
    return found
  }
  let memory: RealTimeMemory | undefined

  const isOnline = async (name: string): Promise<boolean> => (await ari.stateOf(name)) === 'online'

  const inCalls = () => [...phoneOf.values()].filter(({ calls }) => calls.length > 0)

  /** Removes the calls of an earlier test, waits until the phones have none, and registers every phone. */
  async function clear(): Promise<void> {
    const { channels, bridges } = await ari.calls()
    for (const { id } of channels) await ari.endChannel(id)
    for (const { id } of bridges) await ari.endBridge(id)
    // Asterisk's list may keep a channel that has ended (`hasChannel`).
    // On a busy machine, a phone sometimes rings on although Asterisk 22.10 has ended its call at once (16 of 600 dials that
    // were hung up within 5 ms, on two cores beside three busy loops).
    await soon(() => inCalls().length === 0).catch(() => {
      for (const one of inCalls()) one.die()
    })
    for (const one of phoneOf.values()) {
      one.respondWith('180 Ringing')
      if (!one.isRegistered) await one.register()
    }
  }

  return {
    phone,
    /** Stops and starts Asterisk; phones and the outside world connect again. */
    async restart(): Promise<void> {
      world.close()
      for (const one of phoneOf.values()) one.die()
      await asterisk.stop()
      await asterisk.start()
      world = await openOutsideWorld(url, password)
      for (const one of phoneOf.values()) await one.register()
    },
    /** What Asterisk has. */
    calls: () => ari.calls(),
    /** The number of channels and bridges that Asterisk has. */
    async leftovers() {
      const { channels, bridges } = await ari.calls()
      const exist = await Promise.all(channels.map(({ id }) => ari.hasChannel(id)))
      return exist.filter(Boolean).length + bridges.length
    },
    /** One more phone of a person, which takes the place of the first. */
    newPhone: (name: string, expiresSeconds: number) =>
      createSipPhone({ name, password, url: phones, understands: [], expiresSeconds }),
    isOnline,
    world: () => world,
    /**
     * Who talks with whom, and who waits on music: the names of phones, and `pstn` for each outside party, sorted. A phone that
     * hears nothing is left out. An outside party alone hears nothing, and is named.
     */
    async whoHears() {
      const { channels, bridges } = await ari.calls()
      const nameOf = new Map(channels.map(({ id, name }) => [id, /^PJSIP\/(.*)-\w+$/.exec(name)?.[1] ?? name]))
      const groups = (type: string) => bridges.flatMap((one) => (one.bridge_type === type ? [one.channels] : []))
      const served = new Set(bridges.flatMap((bridge) => bridge.channels))
      const unserved = channels.filter(({ id, state }) => state === 'Up' && !served.has(id)).map(({ id }) => [id])
      const named = (all: readonly (readonly string[])[]) =>
        all
          .map((ids) =>
            ids
              .map((id) => nameOf.get(id) ?? id)
              .toSorted()
              .join('+'),
          )
          .toSorted((a, b) => a.localeCompare(b))
      return {
        talking: named([...groups('mixing'), ...unserved]).filter((names) => names === 'pstn' || names.includes('+')),
        waiting: named(groups('holding')).filter((names) => names !== ''),
      }
    },
    /** Asterisk ends the channel of a phone. @param cause Q.850 */
    async endChannelOf(name: string, cause: string): Promise<void> {
      const { channels } = await ari.calls()
      // A channel of an earlier test may be ending.
      const own = channels.filter((channel) => channel.name.startsWith(`PJSIP/${name}-`))
      const newest = own.toSorted((a, b) => a.creationtime.localeCompare(b.creationtime)).at(-1)
      await ari.endChannel(newest?.id ?? '', cause)
    },
    /** Opens a new adapter after all calls have been ended. */
    async open(observer: Observer, answer: PbxAgent['answer'], ringSeconds = RING_SECONDS): Promise<LabHarness> {
      memory?.close()
      proxy.accept()
      await clear()
      memory = new RealTimeMemory()
      return openHarness(
        { asterisk, proxy, phone, isOnline, memory, world: () => world, ringSeconds },
        observer,
        answer,
      )
    },
    async close(): Promise<void> {
      memory?.close()
      world.close()
      for (const one of phoneOf.values()) one.die()
      await proxy.close()
      await asterisk.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Tests that share a real Asterisk. Without one they are skipped, with the reason in the name. */
export function describeWithAsterisk(name: string, tests: (lab: () => AsteriskLab) => void): void {
  const missing = process.env['ASTERISK_MISSING']
  if (missing !== undefined) return describe.skip(`${name} (${missing})`, () => test('is skipped', () => {}))
  describe(name, () => {
    let opened: AsteriskLab | undefined
    beforeAll(async () => {
      opened = await openAsteriskLab()
    }, START_WITHIN_MS)
    afterAll(() => opened?.close())
    tests(() => {
      if (opened === undefined) throw new Error('Asterisk has not been started')
      return opened
    })
  })
}
