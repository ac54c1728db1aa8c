import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packPackage, repository, runProgram as run } from './packed-package.ts'

/** A package as `pnpm pack` makes it, installed into an empty ESM and an empty CJS project. */
export interface InstalledPackage {
  /** The files in the archive. */
  readonly files: readonly string[]
  /** Runs a program of one file in a project, with Node or another runtime, and returns what it prints. */
  execute(kind: Kind, code: string, ...runtime: readonly string[]): string
  /** Compiles modules in a project under TypeScript 5.9 and 7, and returns the versions. */
  compile(kind: Kind, modules: readonly string[]): string[]
  /** Bundles a module for browsers. */
  bundle(code: string): { readonly text: string; readonly gzipBytes: number }
  /** Runs publint and attw over the archive. @throws Error with what they find */
  lint(): void
  remove(): void
}

type Kind = 'esm' | 'cjs'

/**
 * Packs and installs a package, which needs TypeScript 5.9, attw, publint and vite as dependencies of its own.
 * @param path the folder of the package in the repository
 * @param dependencies to be found by the projects, as the package has them
 */
export function installPackage(path: string, dependencies: readonly string[]): InstalledPackage {
  const own = join(repository, path)
  const folder = mkdtempSync(join(tmpdir(), 'installed-package-'))
  const { name } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { readonly name: string }
  const packed = packPackage(own, join(folder, 'packed'))
  const tool = (file: string): string => join(own, 'node_modules/.bin', file)

  for (const kind of ['esm', 'cjs']) {
    const modules = join(folder, kind, 'node_modules')
    packed.install(join(modules, name))
    for (const dependency of dependencies) link(join(own, 'node_modules', dependency), join(modules, dependency))
    // The CJS project has the types of browsers alone.
    if (kind === 'esm') link(join(repository, 'node_modules/@types'), join(modules, '@types'))
    writeFileSync(join(folder, kind, 'package.json'), JSON.stringify({ type: kind === 'esm' ? 'module' : 'commonjs' }))
  }

  return {
    files: packed.names,
    execute(kind, code, program = process.execPath, ...args) {
      writeFileSync(join(folder, kind, 'use.js'), code)
      return run(join(folder, kind), program, ...args, 'use.js')
    },
    compile(kind, modules) {
      const files = modules.map((code, at) => {
        writeFileSync(join(folder, kind, `module-${at}.ts`), code)
        return `module-${at}.ts`
      })
      // Without the last option, checking the libraries of TypeScript itself takes most of the time.
      const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipDefaultLibCheck']
      const lib = kind === 'esm' ? ['--lib', 'es2024', '--types', 'node'] : ['--lib', 'es2023,dom']
      return [tool('tsc'), join(repository, 'node_modules/.bin/tsc')].map((tsc) => {
        run(join(folder, kind), tsc, ...strict, '--target', 'es2023', '--module', 'nodenext', ...lib, ...files)
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
    lint() {
      run(own, tool('publint'), 'run', packed.tarball, '--strict')
      run(own, tool('attw'), packed.tarball, '--profile', 'esm-only', '--no-definitely-typed')
    },
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
