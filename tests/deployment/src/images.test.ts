import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderObjects, repository } from '@switchhook/chart'
import { readCompose } from './compose.ts'
import { IMAGES } from './services.ts'
import { containerOf, isWorkload } from './workloads.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const dockerfile = read('infra/docker/Dockerfile')
const compose = readCompose()

test('every image is built from the one Dockerfile with its service name', () => {
  for (const name of IMAGES) {
    expect(compose.services[name]?.build).toEqual({
      context: '.',
      dockerfile: 'infra/docker/Dockerfile',
      args: { SERVICE: name },
    })
    expect(compose.services[name]?.image).toMatch(new RegExp(`^switchhook/${name}:`))
    const folder = name === 'dev-idp' ? 'tools/dev-idp' : `services/${name}`
    expect(JSON.parse(read(`${folder}/package.json`))).toMatchObject({ name: `@switchhook/${name}` })
    expect(/tsc -b (.*)$/m.exec(dockerfile)?.[1]?.split(' ')).toContain(folder)
  }
})

test.each(['development', 'production'] as const)(
  '%s runs these images by an immutable reference, and RabbitMQ and Redis of docker compose',
  (combination) => {
    const reference = { development: ':dev', production: '@sha256:[0-9a-f]{64}' }
    for (const object of renderObjects(combination)) {
      if (object.kind === 'RabbitmqCluster')
        expect(object).toMatchObject({ spec: { image: compose.services['rabbitmq']?.image } })
      if (!isWorkload(object)) continue
      const { name } = object.metadata
      const { image } = containerOf(object)
      if (object.kind === 'StatefulSet') expect(image).toBe(compose.services[name]?.image)
      else
        expect(image).toMatch(new RegExp(`^(registry\\.example\\.com/)?switchhook/${name}${reference[combination]}$`))
    }
  },
)

test('the images use the Node and pnpm versions of the build and the tests', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } }
  expect(/^ARG NODE=node:(\S+)-trixie-slim$/m.exec(dockerfile)?.[1]).toBe(devDependencies.node)
  expect(/pnpm@(\S+)$/m.exec(dockerfile)?.[1]).toBe(/pnpm@(\S+)$/m.exec(read('Makefile'))?.[1])
})

test.each(['docs/cli.md', 'docs/first-webhook.md'])('%s uses the pnpm of the Makefile, without a question', (page) => {
  const [, command = ''] = /^PNPM := (.*)$/m.exec(read('Makefile')) ?? []
  // A question of npx would take the next line of a pasted block for its answer.
  expect(new Set(read(page).match(/npx .*?pnpm@\S+/g))).toEqual(new Set([command]))
})

test('a container runs its service as process 1, not as root, with a health check', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  expect(last).toMatch(/^USER 1000:1000$/m)
  expect(last).toMatch(/^CMD \["node", "dist\/main.js"\]$/m)
  expect(last).toMatch(/^HEALTHCHECK .*\n? *CMD \["node", .*\/readyz/m)
  expect(last).not.toMatch(/npm|pnpm|tsc/)
})

test('the images of a release are those of the Dockerfile, for two platforms, with SBOM, provenance and labels', () => {
  const bake = read('infra/docker/bake.hcl')
  const services: unknown = JSON.parse(/service = (\[.*?\])/.exec(bake)?.[1] ?? '[]')
  expect(services).toEqual(IMAGES.filter((name) => name !== 'dev-idp'))
  for (const line of [
    'dockerfile = "infra/docker/Dockerfile"',
    'platforms  = ["linux/amd64", "linux/arm64"]',
    'attest = ["type=sbom", "type=provenance,mode=max"]',
  ]) {
    expect(bake).toContain(line)
  }
  for (const name of ['VERSION', 'REVISION', 'SERVICE', 'NODE']) {
    expect(bake).toMatch(new RegExp(`^ +${name} += `, 'm'))
    expect(dockerfile).toMatch(new RegExp(`^ARG ${name}\\b`, 'm'))
  }
  expect(dockerfile).toContain('org.opencontainers.image.version="${VERSION}"')
  expect(dockerfile).toContain('org.opencontainers.image.revision="${REVISION}"')
  // Files with the time of the build would make each build another one.
  expect(dockerfile).toMatch(/rm -rf .*node_modules\/\.modules\.yaml[^&]*node_modules\/\.pnpm-workspace-state/)
})
