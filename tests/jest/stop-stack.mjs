import leaveRun from './leave-run.mjs'

/** Stops the stack of the end-to-end tests and discards its data. */
export default async function stopTheStack() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { stopStack } = await import('../../tools/local/dist/index.js')
  await stopStack(process.env.SWITCHHOOK_HOME, () => {}, { discardData: true })
  await leaveRun()
}
