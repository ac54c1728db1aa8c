import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { sum } from './statistics.ts'

/** Linux counts in ticks of 1/100 s, whatever the kernel's own clock does (proc(5), sysconf(_SC_CLK_TCK)). */
const TICK_MS = 10

/** Resident memory of a process in MiB; by ps(1) where there is no /proc. */
export function residentMib(pid: number): number {
  try {
    const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kib) / 1_024
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024
  }
}

/** Processor time of all threads of a process so far. */
export function cpuMs(pid: number): number {
  try {
    return ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8')) * TICK_MS
  } catch {
    return cpuTimeMs(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }))
  }
}

/** Fields 14 and 15 of /proc/pid/stat. The name before them can contain blanks and brackets. */
export function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Parses the time format of ps(1): `[[dd-]hh:]mm:ss[.cc]`. */
export function cpuTimeMs(text: string): number {
  const [seconds = 0, minutes = 0, hours = 0, days = 0] = text.trim().split(/[-:]/).map(Number).toReversed()
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000)
}

/** Ticks of all processors since the machine started (proc(5), /proc/stat); zeros where there is no /proc. */
export function machineTicks(): { readonly idle: number; readonly all: number } {
  try {
    return parseMachineTicks(readFileSync('/proc/stat', 'utf8'))
  } catch {
    return { idle: 0, all: 0 }
  }
}

/** The first line: user, nice, system, idle, iowait, irq, softirq, steal; guest times are part of user. */
export function parseMachineTicks(stat: string): { readonly idle: number; readonly all: number } {
  const [, ...fields] = (stat.split('\n')[0] ?? '').trim().split(/\s+/)
  const ticks = fields.slice(0, 8).map(Number)
  const [idle = 0, iowait = 0] = ticks.slice(3, 5)
  return { idle: idle + iowait, all: sum(ticks) }
}
