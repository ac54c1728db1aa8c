import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@switchhook/test-servers'
import { HomeInUse, holdHome } from './hold-home.ts'

let home: string
beforeEach(() => (home = temporaryFolder('hold-')))
afterEach(() => rmSync(home, { recursive: true }))

const hold = <T>(work: () => Promise<T>, place = 'stack'): Promise<T> => holdHome(home, place, 'make up', work)

test('one command at a time works in a place, and one that failed leaves it free', async () => {
  await hold(async () => {
    await expect(hold(async () => {})).rejects.toThrow(HomeInUse)
    await expect(hold(async () => {})).rejects.toThrow(`make up is running here already (process ${process.pid})`)
    await hold(async () => {}, 'demo')
  })
  await expect(hold(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(hold(async () => 'done')).resolves.toBe('done')
  expect(readdirSync(home).toSorted()).toEqual(['data', 'log', 'run'])
})

test.each([
  ['was killed', 2_000_000_000],
  ['had the id of another process', process.pid],
])('a command that %s holds nothing', async (_how, pid) => {
  const holder = { command: 'make up', pid, identity: 'before the last boot' }
  writeFileSync(join(home, 'stack.command.json'), JSON.stringify(holder))
  await expect(hold(async () => 'done')).resolves.toBe('done')
})
