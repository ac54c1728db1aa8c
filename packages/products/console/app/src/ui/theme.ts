import { createStore } from '../store.ts'

/** A preference, not a secret, so it outlives the tab. */
const KEY = 'switchhook.theme'

/** `auto`, `light` or `dark`. */
export const theme = createStore(localStorage.getItem(KEY) ?? 'auto')

export function chooseTheme(next: string): void {
  localStorage.setItem(KEY, next)
  applyTheme(next)
  theme.set(next)
}

export function applyTheme(name = theme.get()): void {
  document.documentElement.style.colorScheme = name === 'auto' ? 'light dark' : name
}
