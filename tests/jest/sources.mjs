import { registerHooks } from 'node:module'

const COPY = /\?copy=\d+$/

/**
 * From here on, this process loads the sources of the workspace's packages, so tests need no build. Node strips the types.
 * What a copy imports is of the same copy, except libraries.
 */
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('@switchhook/')
    const found = next(specifier, isOurs ? { ...context, conditions: ['source', ...context.conditions] } : context)
    const [copy] = COPY.exec(context.parentURL) ?? []
    return copy === undefined || !/^file:(?!.*\/node_modules\/).*\.ts$/.test(found.url)
      ? found
      : { ...found, url: found.url + copy }
  },
})

let copies = 0

/** Imports a module and all of our modules that it needs once more, for a test file that must not share their state. */
export const importCopy = (url) => import(`${url}?copy=${(copies += 1)}`)
