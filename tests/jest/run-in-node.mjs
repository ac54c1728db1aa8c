import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { ModernFakeTimers } from '@jest/fake-timers'
import circus from 'jest-circus/runner'
import { ModuleMocker } from 'jest-mock'
import { hasFakeTimers } from './fake-timers.mjs'
import { importCopy } from './sources.mjs'

const require = createRequire(import.meta.url)
/** How jest-circus shares its handlers and a file's `jest.setTimeout` between its modules. */
const [HANDLERS, TIMEOUT] = [Symbol.for('EVENT_HANDLERS'), Symbol.for('TEST_TIMEOUT_SYMBOL')]

/** What jest-circus asks of the code that loads modules. Here, that is Node itself. */
const node = {
  /** jest-circus keeps its state in this module, so each file evaluates it again. */
  requireInternalModule(path) {
    delete require.cache[path]
    delete globalThis[HANDLERS]
    return require(path)
  },
  requireModule: require,
  setGlobalsForRuntime() {},
  unstable_shouldLoadAsEsm: () => true,
  enterTestCode() {},
  leaveTestCode() {},
}

/**
 * Runs a test file as Node runs any module. The files of one process share its globals and modules. A file with fake timers
 * gets its own copy of our modules, because a fake timer that a module keeps would never fire in the next file. Jest would
 * give each file a context, in which it loads and compiles all modules again: that took a quarter of the processor time of
 * its processes.
 * See `testRunner`, https://jestjs.io/docs/configuration#testrunner-string
 */
export default async function runInNode(globalConfig, config, _environment, _runtime, path, sendMessageToJest) {
  const timers = new ModernFakeTimers({ config, global: globalThis })
  const mocker = new ModuleMocker(globalThis)
  const variables = { ...process.env }
  const hasCopy = hasFakeTimers(path)
  const unstable_importModule = (file) => {
    const url = pathToFileURL(file)
    return hasCopy ? importCopy(url) : import(url)
  }
  globalThis.jest = jestOf(timers, mocker, hasCopy)
  delete globalThis[TIMEOUT]
  try {
    return await circus.default(
      globalConfig,
      config,
      { global: globalThis },
      { ...node, unstable_importModule },
      path,
      sendMessageToJest,
    )
  } finally {
    timers.useRealTimers()
    mocker.restoreAllMocks()
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
    Object.assign(process.env, variables)
  }
}

/** The members of `jest` that tests use. */
const jestOf = (timers, mocker, hasCopy) => ({
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  setTimeout: (ms) => {
    globalThis[TIMEOUT] = ms
  },
  useFakeTimers: (more) => {
    if (!hasCopy)
      throw new Error('The test file itself must call `jest.useFakeTimers(`: then it gets its own copy of our modules.')
    timers.useFakeTimers(more)
  },
  useRealTimers: () => timers.useRealTimers(),
  setSystemTime: (now) => timers.setSystemTime(now),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  getTimerCount: () => timers.getTimerCount(),
})
