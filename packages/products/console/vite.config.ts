import { join } from 'node:path'
import { defaultClientConditions, defineConfig } from 'vite'

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
    // These have `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy forbids data URLs for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Vite's loader asks only once for a style of a part that is loaded late: after an outage, the part would have none.
    cssCodeSplit: false,
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
})
