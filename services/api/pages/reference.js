// The policy gives the page an origin of its own, without storage and cookies. The library reads both.
for (const name of ['localStorage', 'sessionStorage']) {
  const kept = new Map()
  const getItem = (key) => kept.get(key) ?? null
  const setItem = (key, value) => kept.set(key, value)
  Object.defineProperty(globalThis, name, { value: { getItem, setItem, removeItem: (key) => kept.delete(key) } })
}
Object.defineProperty(document, 'cookie', { value: '', writable: true })

/** The list of entries is shown at once; the reference takes seconds, so it is loaded when an entry is opened. */
async function showReference() {
  if (location.hash === '') return
  removeEventListener('hashchange', onHash)
  const page = document.getElementById('document')
  const [{ init }, answer] = await Promise.all([import(page.dataset.library), fetch(page.dataset.source)])
  // The documents have no references to other files, so they need no bundling.
  init(await answer.json(), { disableTelemetry: true, skipBundle: true }, page)
}
const onHash = () => void showReference()
addEventListener('hashchange', onHash)
onHash()
