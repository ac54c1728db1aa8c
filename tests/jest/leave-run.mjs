/** Ends what this Jest process has started, unless it is part of a longer run. */
export default async function leaveRun() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { leaveTestRun } = await import('../../tools/test-servers/src/index.ts')
  await leaveTestRun()
}
