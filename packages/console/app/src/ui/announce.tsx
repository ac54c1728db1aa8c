import { useSyncExternalStore } from 'react'
import type { Tone } from '../rules/repair.ts'

interface Announcement {
  readonly text: string
  readonly tone: Tone
}

const SHOWN_MS = 6_000

let current: Announcement | null = null
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/** Tells the person the result of an action, also by screen reader. */
export function announce(text: string, tone: Tone = 'good'): void {
  clearTimeout(timer)
  timer = setTimeout(() => set(null), SHOWN_MS)
  set({ text, tone })
}

function set(next: Announcement | null): void {
  current = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Announcements() {
  const announcement = useSyncExternalStore(subscribe, () => current)
  return (
    <div className="announcements" role="status">
      {announcement && <p className={`announcement ${announcement.tone}`}>{announcement.text}</p>}
    </div>
  )
}
