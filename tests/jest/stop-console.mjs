import leaveRun from './leave-run.mjs'

/** Stops the stack of the console's tests and discards its data, unless it is a stack that they were given. */
export default async function stopConsole() {
  const home = process.env.CONSOLE_TESTS_OWN
  if (home === undefined) return
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { stopStack } = await import('../../tools/local/dist/index.js')
  await stopStack(home, () => {}, { discardData: true })
  await leaveRun()
}
