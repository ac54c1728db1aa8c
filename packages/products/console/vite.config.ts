import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** Below this size a compressed answer saves no packet. */
const WORTH_COMPRESSING_BYTES = 1_000

/** Writes `x.br` and `x.gz` next to every asset, so that the api compresses nothing at run time. */
function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    apply: 'build',
    writeBundle({ dir = '' }) {
      const folder = join(dir, 'assets')
      for (const name of readdirSync(folder)) {
        const bytes = readFileSync(join(folder, name))
        if (bytes.length < WORTH_COMPRESSING_BYTES) continue
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

export default defineConfig({
  root: join(import.meta.dirname, 'app'),
  // Relative addresses: the console works below any path prefix.
  base: './',
  // The client is bundled from its sources, without a build.
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: join(import.meta.dirname, 'dist/app'),
    emptyOutDir: true,
    target: 'es2023',
    // These have `light-dark()`. What it becomes for older ones follows the system, not the colours that a person chose.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy forbids data URLs for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onLog: (level, log, report) => {
        // TanStack marks its files for server components, which the console has none of.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
  // `vite` alone is for work on the console: it uses the api of `make up`.
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/simulator': 'http://127.0.0.1:8080' } },
  plugins: [compressAssets()],
})
