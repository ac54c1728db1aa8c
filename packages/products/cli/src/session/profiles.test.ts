import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProfiles } from './profiles.ts'

let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'profiles-'))
})

afterEach(() => {
  jest.restoreAllMocks()
  syncBuiltinESMExports()
  fs.rmSync(folder, { recursive: true })
})

/** As on Windows, while another program has the file open. */
function failRenames(code: string, times: number): void {
  const { renameSync } = fs
  let left = times
  jest.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    if (left-- > 0) throw Object.assign(new Error('cannot be replaced'), { code })
    renameSync(from, to)
  })
  syncBuiltinESMExports()
}

const PROFILE = { url: 'https://a.example' }
const store = () => openProfiles({ XDG_CONFIG_HOME: folder }).exclusively(({ write }) => write('default', PROFILE))
const stored = () => openProfiles({ XDG_CONFIG_HOME: folder }).read().profiles
const files = () => fs.readdirSync(join(folder, 'switchhook'))

test.each(['EPERM', 'EACCES', 'EBUSY'])(
  'a profile is stored although another program has the file open for a moment: %s',
  async (code) => {
    await store()
    failRenames(code, 2)
    await openProfiles({ XDG_CONFIG_HOME: folder }).exclusively(({ write }) => write('other', PROFILE))
    expect(stored()).toEqual({ default: PROFILE, other: PROFILE })
    expect(files()).toEqual(['profiles.json'])
  },
)

test('a profile that cannot be stored is an error, and no copy of its tokens is left', async () => {
  failRenames('EXDEV', Infinity)
  await expect(store()).rejects.toThrow('cannot be replaced')
  expect(files()).toEqual([])
})
