import { usage } from '../exit.ts'

const LOOPBACK = /^((.+\.)?localhost\.?|127(\.\d+){3}|\[::1\])$/

/** Reads `3000`, `3000/hook`, `localhost:3000/hook` or a url. @throws CliError, also for another machine unless that is allowed */
export function targetOf(text: string, allowRemote: boolean): URL {
  const port = /^\d+([/?#]|$)/.test(text) ? `localhost:${text}` : text
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(port) ? port : `http://${port}`
  // `URL` would take the first step of a path for the host.
  if (text.startsWith('/') || !URL.canParse(address))
    throw usage(`"${text}" is no address: write it like http://localhost:3000/hook.`)
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol)) throw usage(`"${text}" must begin with http:// or https://.`)
  // `fetch` would refuse each delivery, and its attempt would count.
  if (url.username || url.password) throw usage('An address with a user or a password cannot be used.')
  if (!allowRemote && !LOOPBACK.test(url.hostname)) {
    throw usage(`${url.hostname} is another machine: events have personal data. Add --allow-remote if it may get them.`)
  }
  return url
}
