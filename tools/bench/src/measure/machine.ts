import { cpus, release, totalmem, type } from 'node:os'

/** The machine of a measurement. */
export const describeMachine = () => ({
  cores: cpus().length,
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGib: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version,
})

export type Machine = Readonly<ReturnType<typeof describeMachine>>
