import { cpus, release, totalmem, type } from 'node:os'

/** The machine of a measurement. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGib: number
  readonly system: string
  readonly node: string
}

export const describeMachine = (): Machine => ({
  cores: cpus().length,
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGib: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version,
})
