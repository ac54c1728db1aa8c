import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GROUPS } from '../groups.ts'
import { completions } from './completion.ts'

const root = join(import.meta.dirname, '../../../../..')
const words = completions(GROUPS)

/** The commands in the code blocks of a page. */
const commandsIn = (page: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => /(?:^|[( ])(?:npx )?switchhook (?!\w+\.)(.*)$/.exec(line.replace(/ {2,}#.*$/, ''))?.[1] ?? []),
  )

/** `calls dial`, or `explain`. */
function keyOf(command: string): string {
  const [first = '', second = ''] = command.split(/[ )]/)
  return words.has(`${first} ${second}`) ? `${first} ${second}` : first
}

test.each([
  ['README.md', 14],
  ['docs/cli.md', 5],
  ['packages/products/cli/README.md', 8],
])('the commands and options in %s exist', (page, most) => {
  const commands = commandsIn(page)
  expect(commands.length).toBeGreaterThanOrEqual(most)
  for (const command of commands) {
    const known = words.get(keyOf(command)) ?? []
    expect([command, known.length > 0]).toEqual([command, true])
    expect([command, (command.match(/--[\w-]+/g) ?? []).filter((option) => !known.includes(option))]).toEqual([
      command,
      [],
    ])
  }
})

test('docs/cli.md has every command', () => {
  const guide = readFileSync(join(root, 'docs/cli.md'), 'utf8')
  for (const { name: group, commands } of GROUPS) {
    for (const { name } of commands)
      expect(guide).toMatch(new RegExp(`\`(?:switchhook )?${group === '' ? '' : `(?:${group} )?`}${name}\\b`))
  }
})
