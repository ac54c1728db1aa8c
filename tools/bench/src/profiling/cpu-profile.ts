import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of V8's `.cpuprofile` format that are read (https://chromedevtools.github.io/devtools-protocol/tot/Profiler). */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  /** Of `process.hrtime`'s clock, in µs. */
  readonly startTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Samples by part of the program. */
export type Shares = ReadonlyMap<string, number>

/** Node's options with which a process writes a profile into `folder` when it ends. */
export const profiledInto = (folder: string): readonly string[] => ['--cpu-prof', `--cpu-prof-dir=${folder}`]

/** The profile of an ended process; undefined if it wrote none. */
export function readProfile(folder: string, pid: number): CpuProfile | undefined {
  const files = existsSync(folder) ? readdirSync(folder) : []
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile; the main thread is 0.
  const file = files.find((name) => name.split('.')[3] === String(pid) && name.split('.')[4] === '0')
  return file === undefined ? undefined : (JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile)
}

/** Counts the samples between two times by the part that they belong to. Idle samples are left out. */
export function sharesOf(profile: CpuProfile, fromUs: number, toUs: number): Shares {
  const parts = partsOf(profile)
  const shares = new Map<string, number>()
  let at = profile.startTime
  for (const [index, sample] of profile.samples.entries()) {
    at += profile.timeDeltas[index] ?? 0
    const part = parts.get(sample)
    if (part === undefined || at < fromUs || at > toUs) continue
    shares.set(part, (shares.get(part) ?? 0) + 1)
  }
  return shares
}

/** The part of each node. A frame of Node's own code, or of V8's, belongs to its nearest caller in a file. */
function partsOf({ nodes }: CpuProfile): ReadonlyMap<number, string | undefined> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, string | undefined>()
  const visit = (id: number, inherited: string | undefined): void => {
    const node = byId.get(id)
    if (node === undefined) return
    const { functionName, url } = node.callFrame
    const own = url.startsWith('node:') || url === '' ? undefined : fileOf(url)
    const caller = own ?? inherited
    const part = special(functionName, url) ?? caller ?? nodePart(url)
    parts.set(id, WRITES.test(functionName) && url === '' ? `${part}: write system calls` : part)
    // Without a caller in a file, a child keeps looking for one, and falls back to its own module of Node.
    for (const child of node.children ?? []) visit(child, caller)
  }
  const children = new Set(nodes.flatMap((node) => node.children ?? []))
  for (const { id } of nodes) if (!children.has(id)) visit(id, undefined)
  for (const { id, callFrame } of nodes) if (callFrame.functionName === '(idle)') parts.set(id, undefined)
  return parts
}

/** The functions of Node's streams and files that make a system call directly. Reads are not visible in a profile. */
const WRITES = /^(?:writev|write(?:Buffer|Buffers|String|Utf8String|Latin1String|AsciiString))$/

function special(functionName: string, url: string): string | undefined {
  if (url !== '') return undefined
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(program)') return 'Node outside of JavaScript'
  return undefined
}

const nodePart = (url: string): string => {
  if (/^node:.*(http|_http)/.test(url)) return 'Node: http'
  if (/^node:.*(net|stream|tls)/.test(url)) return 'Node: sockets'
  return 'Node: event loop'
}

/** A package of npm, or a folder of this repository: `services/api/http`, `packages/store`. */
export function fileOf(url: string): string {
  const dependency = url.lastIndexOf('/node_modules/')
  if (dependency >= 0) {
    const [scope = '', name = ''] = url.slice(dependency + '/node_modules/'.length).split('/')
    return scope.startsWith('@') ? `${scope}/${name}` : scope
  }
  const [, root = '', name = '', rest = ''] =
    /\/(services|packages|tools)\/([^/]+)\/(?:dist|src)\/(.*)$/.exec(url) ?? []
  if (root === '') return 'other'
  const folder = rest.includes('/') ? `/${rest.split('/')[0]}` : ''
  return root === 'services' ? `${root}/${name}${folder}` : `${root}/${name}`
}
