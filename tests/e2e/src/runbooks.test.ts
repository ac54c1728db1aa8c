import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './monitoring-files.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The lines of the shell blocks and the code spans of a page. Continued lines are one. */
function codeOf(page: string): string[] {
  const text = read(page)
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block.replaceAll(/\\\n/g, ' '))
  const spans = text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`]+)`/g)
  return [...blocks.flatMap((block) => block.split('\n')), ...[...spans].map(([, span = '']) => span)]
}

/** The texts that a pattern of `grep -E` finds: `a (b|c)|d` finds `a b`, `a c` and `d`. */
function alternativesOf(pattern: string): readonly string[] {
  const group = /\(([^()]*)\)/.exec(pattern)
  if (group === null) return pattern.split('|')
  const [whole, inner = ''] = group
  return inner.split('|').flatMap((each) => alternativesOf(pattern.replace(whole, () => each)))
}

describe('each text that a runbook looks for in a log is one that the services write', () => {
  const code = globSync(
    '{services/*,packages/{messaging,platform,platform-asterisk,runtime,service,signing,store}}/src/**/*.ts',
    {
      cwd: root,
      exclude: ['**/*.test.ts', '**/testing/**'],
    },
  )
    .map(read)
    .join('\n')
    .replaceAll(/^\s*(?:\/\/[^\n]*|\/\*.*?\*\/)$/gms, '')
  const literals = [...code.matchAll(/(['"`])(.*?)\1/g)].map(([, , literal = '']) => literal)

  const texts = ['docs/alerts.md', 'docs/operations.md']
    .flatMap(codeOf)
    .filter((line) => /\blogs [\w-]+ \|/.test(line))
    .flatMap((line) => [...line.matchAll(/\| grep (?:-\w+ )*(?:'([^']+)'|"(.+?)"(?=$| )|([\w.]+))/g)])
    .flatMap(([, ...patterns]) => alternativesOf(patterns.join('')))

  test.each([...new Set(texts)])('%s', (text) => {
    const [, field, value] = /^"(\w+)":(?:"(\w+)")?/.exec(text) ?? []
    if (field === undefined) return expect(literals.filter((each) => each.includes(text))).not.toEqual([])
    expect(code).toMatch(new RegExp(`\\b${field}[:,]`))
    if (value !== undefined) expect(literals).toContain(value)
  })
})

/** Arguments that are or may be secrets. The arguments of `exec` appear in audit logs and process lists. */
const SECRET_ARGUMENT =
  /(?:PASS\w*|AUTH|SECRET\w*|TOKEN)=(?!\$\(cat\))|\b(?:add_user|change_password) \S+ +[^ #]|['"][<>]|\bredis-cli\b.* (?:-a|--pass) /

const EXEC = /\b(?:exec|on (?:api|fanout|delivery-worker|rabbitmq|redis)) (.*)/
const secretsIn = (lines: readonly string[]): string[] =>
  lines.filter((line) => SECRET_ARGUMENT.test(EXEC.exec(line)?.[1] ?? ''))

test.each<[string, boolean]>([
  ['on fanout env AMQP_PASSWORD="$password" node "$@"', true],
  [`on fanout sh -c 'AMQP_PASSWORD=$(cat) exec node "$@"' sh "$@"`, false],
  ['on rabbitmq rabbitmqctl add_user switchhook-2 <new password>', true],
  [`printf '%s\\n' "$new" | on rabbitmq rabbitmqctl add_user switchhook-2   # a comment`, false],
  [`on redis redis-cli acl setuser default '>new'`, true],
  [`printf '>%s' "$new" | on redis redis-cli -x acl setuser default`, false],
])('whether a command has a secret as an argument of exec: %s', (line, hasSecret) => {
  expect(secretsIn([line])).toEqual(hasSecret ? [line] : [])
})

test('no documented command has a secret as an argument of exec', () => {
  const pages = globSync(['*.md', '{docs,infra}/**/*.md'], { cwd: root })
  const lines = pages.flatMap(codeOf)
  expect(lines.filter((line) => EXEC.test(line)).length).toBeGreaterThan(20)
  expect(secretsIn(lines)).toEqual([])
})
