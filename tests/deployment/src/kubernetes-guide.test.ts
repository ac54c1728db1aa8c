import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMBINATIONS, exampleFile, repository, runKubectl } from '@switchhook/chart'

const guide = readFileSync(join(repository, 'docs/kubernetes.md'), 'utf8')
/** The commands of the guide, one string each, without comments. */
const commands = [...guide.matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) =>
    line
      .replace(/ +#.*/, '')
      .replace(/ [|&]$/, '')
      .trim(),
  )
  .filter((line) => line !== '')

test('every file that a command names exists', () => {
  const named = commands.flatMap((command) => command.match(/infra\/[\w./-]+/g) ?? [])
  expect(named.filter((path) => !existsSync(join(repository, path)))).toEqual([])
  expect(new Set(named).size).toBeGreaterThan(4)
})

test('the block as a whole is valid shell', () => {
  const { status, stderr } = spawnSync('bash', ['-n'], { encoding: 'utf8', input: `${commands.join('\n')}\n` })
  expect([status, stderr]).toEqual([0, ''])
})

test('the commands that create namespaces and Secrets are accepted by kubectl', () => {
  const creating = commands.filter((command) => /^kubectl .*create (namespace|secret generic)/.test(command))
  expect(creating).toHaveLength(5)
  for (const command of creating) {
    const args = command
      .replaceAll(/\$\(openssl[^)]*\)/g, 'secret')
      .replaceAll('"', '')
      .split(' ')
      .slice(1)
    const { status, stderr } = runKubectl([...args, '--dry-run=client', '--output=yaml'])
    expect([command, status, stderr]).toEqual([command, 0, ''])
  }
})

test('the namespace exists before anything is put into it, and the broker goes before the release', () => {
  const at = (start: string, from = 0) =>
    commands.findIndex((command, index) => index >= from && command.startsWith(start))
  const production = commands.lastIndexOf('kubectl create namespace switchhook')
  expect(production).toBeLessThan(at('kubectl --namespace switchhook create secret', production))
  expect(at('kubectl --namespace switchhook create secret')).toBeLessThan(at('helm install', production))
  const removal = at('kubectl --namespace switchhook delete rabbitmqcluster')
  expect(removal).toBeGreaterThan(0)
  expect(removal).toBeLessThan(at('helm uninstall', removal))
})

test('every example is listed in the guide, and every file with values is rendered by the tests', () => {
  const examples = globSync('infra/helm/examples/*.yaml', { cwd: repository }).map((path) =>
    path.replace(/.*\/|\.yaml$/g, ''),
  )
  expect(examples.filter((name) => !guide.includes(`infra/helm/examples/${name}.yaml`))).toEqual([])
  const objects = ['secrets', 'external-secrets', 'certificates', 'receiver', 'restore']
  const rendered = new Set<string>(Object.values(COMBINATIONS).flat())
  expect(examples.filter((name) => !rendered.has(name) && !objects.includes(name))).toEqual([])
  for (const name of rendered) expect(existsSync(exampleFile(name))).toBe(true)
})
