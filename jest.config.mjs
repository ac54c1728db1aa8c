/**
 * Three layers by file name: `x.test.ts` touches no I/O, `x.it.test.ts` a real RabbitMQ and Redis,
 * `x.e2e.test.ts` the running stack over HTTP alone. `x.cluster.test.ts` starts clusters of its own, which takes minutes.
 * `x.pbx.test.ts` starts a real Asterisk.
 */
const common = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/tools', '<rootDir>/tests'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  // Tests run on the sources: no build comes first.
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
}

const infrastructure = '<rootDir>/packages/testkit/src/jest'

export default {
  // A bound on what waits for other processes, not an expectation: everything awaits conditions.
  testTimeout: 30_000,
  projects: [
    { ...common, displayName: 'unit', testMatch: ['**/src/**/!(*.it|*.e2e|*.cluster|*.pbx).test.ts'] },
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
    {
      ...common,
      displayName: 'pbx',
      testMatch: ['**/src/**/*.pbx.test.ts'],
      globalSetup: '<rootDir>/packages/pbx/src/jest/find-asterisk.ts',
    },
    { ...common, displayName: 'cluster', testMatch: ['**/src/**/*.cluster.test.ts'] },
  ],
}
