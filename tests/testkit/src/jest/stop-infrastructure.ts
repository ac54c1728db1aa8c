import { once } from 'node:events'

/** Ends the keeper's standard input, on which it stops both servers, and waits for its exit. */
export default async function stopInfrastructure(): Promise<void> {
  const keeper = globalThis.testInfrastructure
  if (keeper === undefined || keeper.exitCode !== null) return
  keeper.ref()
  const ended = once(keeper, 'exit')
  keeper.stdin?.end()
  await ended
}
