export interface RedisMemory {
  readonly usedBytes: number
  /** 0: no limit. */
  readonly maxBytes: number
}

/** Parses the reply to INFO memory. Undefined if it lacks the figures, as with some managed servers. */
export function parseMemory(info: string): RedisMemory | undefined {
  const valueOf = (name: string): number | undefined => {
    const digits = new RegExp(`^${name}:(\\d+)\\r?$`, 'm').exec(info)?.[1]
    return digits === undefined ? undefined : Number(digits)
  }
  const [usedBytes, maxBytes] = [valueOf('used_memory'), valueOf('maxmemory')]
  return usedBytes === undefined || maxBytes === undefined ? undefined : { usedBytes, maxBytes }
}

/** The node that will refuse writes first. A node without a limit sorts before all others. */
export function fullestOf(nodes: readonly RedisMemory[]): RedisMemory | undefined {
  const shareOf = ({ usedBytes, maxBytes }: RedisMemory): number => usedBytes / maxBytes
  return nodes.toSorted((a, b) => shareOf(b) - shareOf(a))[0]
}
