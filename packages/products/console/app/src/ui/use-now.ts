import { useEffect, useState } from 'react'

/** The time in ms since 1970, again every `everyMs`. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}
