/** How much memory a Redis uses and may use. */
export interface RedisMemory {
  readonly usedBytes: number
  /** 0: it has no limit of its own. */
  readonly maxBytes: number
}

/** Reads the answer to INFO memory; undefined when it does not say, as some managed ones do not. */
export function parseMemory(info: string): RedisMemory | undefined {
  const valueOf = (name: string): number | undefined => {
    const digits = new RegExp(`^${name}:(\\d+)\\r?$`, 'm').exec(info)?.[1]
    return digits === undefined ? undefined : Number(digits)
  }
  const [usedBytes, maxBytes] = [valueOf('used_memory'), valueOf('maxmemory')]
  return usedBytes === undefined || maxBytes === undefined ? undefined : { usedBytes, maxBytes }
}

/** Of several nodes the one that is refused writes first. A node without a limit comes before all others. */
export function fullestOf(nodes: readonly RedisMemory[]): RedisMemory | undefined {
  const shareOf = ({ usedBytes, maxBytes }: RedisMemory): number => usedBytes / maxBytes
  return nodes.toSorted((a, b) => shareOf(b) - shareOf(a))[0]
}
