import type { Tone } from '../rules/tone.ts'
import { createStore, useStore } from '../store.ts'

const SHOWN_MS = 6_000

const announcements = createStore<{ readonly text: string; readonly tone: Tone } | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** Tells the person the result of an action, also by screen reader. */
export function announce(text: string, tone: Tone = 'good'): void {
  clearTimeout(timer)
  timer = setTimeout(() => announcements.set(null), SHOWN_MS)
  announcements.set({ text, tone })
}

export function Announcements() {
  const announcement = useStore(announcements)
  return (
    <div className="announcements" role="status">
      {announcement && <p className={`announcement ${announcement.tone}`}>{announcement.text}</p>}
    </div>
  )
}
