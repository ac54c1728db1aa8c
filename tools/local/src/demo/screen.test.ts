import { createScreen } from './screen.ts'

function watch(colour = false): { lines: string[]; screen: ReturnType<typeof createScreen> } {
  const lines: string[] = []
  return { lines, screen: createScreen((line) => lines.push(line), { colour }) }
}

test('rows that arrive while a request is open are shown below its answer', async () => {
  const { lines, screen } = watch()
  const value = await screen.request('POST /somewhere', async () => {
    screen.row(['a webhook'])
    return { status: 202, detail: 'accepted', value: 42 }
  })
  expect(value).toBe(42)
  expect(lines).toEqual([expect.stringMatching(/^ {3}POST \/somewhere +202$/), '   accepted', '   a webhook'])
})

test('rows that arrived before a failed request are still shown', async () => {
  const { lines, screen } = watch()
  const failing = screen.request('POST /somewhere', async () => {
    screen.row(['a webhook'])
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  expect(lines).toEqual(['   a webhook'])
})

test('scenes are numbered, and colour is off by default', () => {
  const { lines, screen } = watch()
  screen.scene('one')
  screen.scene('two')
  expect(lines).toEqual(['', '1  one', '', '2  two'])
  const coloured = watch(true)
  coloured.screen.scene('one')
  expect(coloured.lines[1]).not.toBe('1  one')
})
