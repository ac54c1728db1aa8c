export type Theme = 'auto' | 'light' | 'dark'

/** A preference, not a secret, so it outlives the tab. */
const KEY = 'switchhook.theme'

export const theme = (): Theme => (localStorage.getItem(KEY) as Theme | null) ?? 'auto'

export function chooseTheme(next: Theme): void {
  localStorage.setItem(KEY, next)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme() === 'auto' ? 'light dark' : theme()
}
