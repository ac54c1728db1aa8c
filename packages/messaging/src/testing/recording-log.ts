import type { Log } from '../log.ts'

interface Line {
  readonly level: keyof Log
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface RecordingLog extends Log {
  readonly lines: readonly Line[]
  count(message: string): number
}

export function recordingLog(): RecordingLog {
  const lines: Line[] = []
  const record =
    (level: keyof Log) =>
    (message: string, fields: Line['fields'] = {}): void =>
      void lines.push({ level, message, fields })
  return {
    lines,
    count: (message) => lines.filter((line) => line.message === message).length,
    error: record('error'),
    warn: record('warn'),
    info: record('info'),
    debug: record('debug'),
  }
}
