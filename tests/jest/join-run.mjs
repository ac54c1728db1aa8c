/** Makes a Jest process that a person started a run of its own, so that its end is the end of all that it has started. */
export default async function joinRun() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { joinTestRun } = await import('../../tools/test-servers/src/index.ts')
  joinTestRun()
}
