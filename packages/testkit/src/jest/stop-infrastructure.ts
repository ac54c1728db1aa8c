import { once } from 'node:events'

/** Ends the keeper's standard input, which is its signal to stop everything, and waits until it has. */
export default async function stopInfrastructure(): Promise<void> {
  const keeper = globalThis.testInfrastructure
  if (keeper === undefined || keeper.exitCode !== null) return
  keeper.ref()
  const ended = once(keeper, 'exit')
  keeper.stdin?.end()
  await ended
}
