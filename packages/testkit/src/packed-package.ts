import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { repository } from '@switchhook/test-servers'

/** A package as `pnpm pack` makes it, installed into an empty ESM and an empty CJS project. */
export interface PackedPackage {
  /** The files in the archive. */
  readonly files: readonly string[]
  /** Runs a program of one file in a project, and returns what it prints. */
  execute(kind: Kind, code: string): string
  /** Compiles modules in a project under TypeScript 5.9 and 7, and returns the versions. */
  compile(kind: Kind, modules: readonly string[]): string[]
  /** Bundles a module for browsers. */
  bundle(code: string): { readonly text: string; readonly gzipBytes: number }
  /** Runs publint over the archive, which throws what it finds. */
  lint(): void
  remove(): void
}

export type Kind = 'esm' | 'cjs'

/**
 * Packs a package, which needs TypeScript 5.9, publint and vite as dependencies of its own.
 * @param own the folder of the package
 * @param dependencies to be found by the projects, as `own` has them
 */
export function packPackage(own: string, dependencies: readonly string[]): PackedPackage {
  const folder = mkdtempSync(join(tmpdir(), 'packed-package-'))
  const { name } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { readonly name: string }
  const [, pnpm = ''] = /^PNPM := npx --yes (\S+)$/m.exec(readFileSync(join(repository, 'Makefile'), 'utf8')) ?? []
  run(own, 'npx', '--yes', pnpm, 'pack', '--pack-destination', folder)
  const tarball = join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '')
  const tool = (file: string): string => join(own, 'node_modules/.bin', file)

  for (const kind of ['esm', 'cjs']) {
    const modules = join(folder, kind, 'node_modules')
    mkdirSync(join(modules, name), { recursive: true })
    run(join(modules, name), 'tar', '--extract', '--gzip', '--strip-components=1', '--file', tarball)
    for (const dependency of dependencies) link(join(own, 'node_modules', dependency), join(modules, dependency))
    link(join(repository, 'node_modules/@types'), join(modules, '@types'))
    writeFileSync(join(folder, kind, 'package.json'), JSON.stringify({ type: kind === 'esm' ? 'module' : 'commonjs' }))
  }

  return {
    files: run(folder, 'tar', '--list', '--file', tarball).trim().split('\n'),
    execute(kind, code) {
      writeFileSync(join(folder, kind, 'use.js'), code)
      return run(join(folder, kind), process.execPath, 'use.js')
    },
    compile(kind, modules) {
      const files = modules.map((code, at) => {
        writeFileSync(join(folder, kind, `module-${at}.ts`), code)
        return `module-${at}.ts`
      })
      const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023']
      const lib = kind === 'esm' ? ['--lib', 'es2024', '--types', 'node'] : ['--lib', 'es2023,dom', '--types', '']
      return [tool('tsc'), join(repository, 'node_modules/.bin/tsc')].map((tsc) => {
        run(join(folder, kind), tsc, ...strict, '--module', 'nodenext', ...lib, ...files)
        return run(folder, tsc, '--version').trim()
      })
    },
    bundle(code) {
      const root = join(folder, 'esm')
      writeFileSync(join(root, 'browser.js'), code)
      const lib = { entry: join(root, 'browser.js'), formats: ['iife'], name: 'bundled', fileName: 'bundle' }
      const config = { root, configFile: false, logLevel: 'error', build: { lib, outDir: 'out', minify: true } }
      writeFileSync(
        join(own, 'node_modules/bundle.mjs'),
        `import { build } from 'vite'\nawait build(${JSON.stringify(config)})\n`,
      )
      run(own, process.execPath, 'node_modules/bundle.mjs')
      const bundle = readFileSync(join(root, 'out/bundle.iife.js'))
      return { text: bundle.toString(), gzipBytes: gzipSync(bundle, { level: 9 }).length }
    },
    lint: () => void run(own, tool('publint'), 'run', tarball, '--strict'),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/**
 * Each `ts` block of a page, as a module.
 * @param prelude begins the blocks that do not import the package `name`
 */
export function snippetsIn(page: string, name: string, prelude: string): string[] {
  const text = readFileSync(join(repository, page), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  return blocks.map((code) => (new RegExp(`^import .*${name}`, 'm').test(code) ? code : prelude + code))
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(realpathSync(target), path)
}

function run(cwd: string, program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}
