import { type AsteriskLab, openAsteriskLab } from './asterisk-lab.ts'

const START_WITHIN_MS = 60_000

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
