import { spawnSync } from 'node:child_process'

/** The overlays use features that are newer than kustomize 4. */
const MINIMUM_MAJOR = 5

const PROGRAMS = [
  { command: 'kubectl', version: ['version', '--client', '--output=json'], build: ['kustomize'] },
  { command: 'kustomize', version: ['version'], build: ['build'] },
] as const

/** Returns a function that renders an overlay, or undefined if neither kubectl nor kustomize is recent enough. */
export function findKustomize(): ((folder: string) => string) | undefined {
  const program = PROGRAMS.find(({ command, version }) => {
    const { status, stdout } = spawnSync(command, version, { encoding: 'utf8' })
    const [, major] = /(?:"kustomizeVersion": "|^)v(\d+)/m.exec(stdout ?? '') ?? []
    return status === 0 && Number(major) >= MINIMUM_MAJOR
  })
  if (program === undefined) return undefined
  return (folder) => {
    const { status, stdout, stderr } = spawnSync(program.command, [...program.build, folder], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    })
    if (status !== 0) throw new Error(`${program.command} could not build ${folder}: ${stderr}`)
    return stdout
  }
}
