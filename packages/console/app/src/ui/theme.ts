import { createStore } from '../store.ts'

/** A preference, not a secret, so it outlives the tab. */
const KEY = 'switchhook.theme'

/** `auto`, `light` or `dark`. */
export const theme = createStore(localStorage.getItem(KEY) ?? 'auto')

export function chooseTheme(next: string): void {
  localStorage.setItem(KEY, next)
  theme.set(next)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.get() === 'auto' ? 'light dark' : theme.get()
}
