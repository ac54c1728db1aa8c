import './tests/jest/sources.mjs'

// Otherwise git refuses to read a clone that belongs to another user, for example for root.
if (process.env.GIT_CONFIG_COUNT === undefined) {
  const safe = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: import.meta.dirname }
  Object.assign(process.env, safe)
}

/**
 * Test layers by file name: `x.preflight.test.ts` runs before all others, `x.test.ts` does no I/O, `x.it.test.ts` uses a real
 * RabbitMQ and Redis, `x.e2e.test.ts` uses the running stack over HTTP only, `x.browser.test.ts` drives the console in a
 * real Chromium, `x.cluster.test.ts` starts its own clusters, which takes minutes, `x.pbx.test.ts` starts a real Asterisk,
 * `x.long.test.ts` runs a stack of its own for minutes, and `x.browser-long.test.ts` looks at every screen of the console.
 */
const common = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/tools', '<rootDir>/tests'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  testRunner: '<rootDir>/tests/jest/run-in-node.mjs',
  transform: {},
  // The default lies in the temporary folder, of which each run has its own.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Node itself calls these two: a fake one would stop it.
  fakeTimers: { doNotFake: ['nextTick', 'queueMicrotask'] },
}

const infrastructure = '<rootDir>/tests/testkit/src/jest'

const console = {
  globalSetup: '<rootDir>/tests/jest/start-console.mjs',
  globalTeardown: '<rootDir>/tests/jest/stop-console.mjs',
}

/** For tests that start servers or stacks of their own. */
const ownRun = {
  globalSetup: '<rootDir>/tests/jest/join-run.mjs',
  globalTeardown: '<rootDir>/tests/jest/leave-run.mjs',
}

export default {
  // An upper bound for waiting on other processes. Tests await conditions, never this time.
  testTimeout: 120_000,
  testSequencer: '<rootDir>/tests/jest/sequencer.mjs',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['**/src/**/!(*.preflight|*.it|*.e2e|*.browser|*.browser-long|*.cluster|*.pbx|*.long).test.ts'],
    },
    { ...common, ...ownRun, displayName: 'preflight', testMatch: ['**/src/**/*.preflight.test.ts'] },
    {
      ...common,
      displayName: 'it',
      testMatch: ['**/src/**/*.it.test.ts'],
      globalSetup: `${infrastructure}/start-infrastructure.ts`,
      globalTeardown: `${infrastructure}/stop-infrastructure.ts`,
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['**/src/**/*.e2e.test.ts'],
      globalSetup: '<rootDir>/tests/jest/start-stack.mjs',
      globalTeardown: '<rootDir>/tests/jest/stop-stack.mjs',
    },
    { ...common, ...ownRun, displayName: 'long', testMatch: ['**/src/**/*.long.test.ts'] },
    { ...common, ...console, displayName: 'browser', testMatch: ['**/src/**/*.browser.test.ts'] },
    { ...common, ...console, displayName: 'browser-long', testMatch: ['**/src/**/*.browser-long.test.ts'] },
    {
      ...common,
      displayName: 'pbx',
      testMatch: ['**/src/**/*.pbx.test.ts'],
      globalSetup: '<rootDir>/tools/pbx/src/jest/find-asterisk.ts',
      globalTeardown: '<rootDir>/tests/jest/leave-run.mjs',
    },
    { ...common, ...ownRun, displayName: 'cluster', testMatch: ['**/src/**/*.cluster.test.ts'] },
  ],
}
