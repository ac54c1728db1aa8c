/** How a program finds itself on the machine: paths, the person, language, certificates, Docker. */
const OF_THE_MACHINE =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|XDG_\w+|LD_LIBRARY_PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|DOCKER_\w+|TESTCONTAINERS_\w+)$/
/** Ours: the mark of a test run, a cache, and how we print. */
const OURS = /^(?:TEST_RUN|NODE_COMPILE_CACHE|CI|NO_COLOR)$/

/** For the programs that download: apt, npm and git. Everything else that is started talks to this machine only. */
export const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
])

/**
 * The environment of a server, a service or a test: of the person's variables only those on the list. A shell has variables
 * for other programs, such as `NODE_ENV`, `ERL_FLAGS` or `RABBITMQ_DEFAULT_USER`, that also change what we start.
 * @param further names that this program needs as well
 */
export function ownEnvironment(
  further: Iterable<string> = [],
  person: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const names = new Set(further)
  const isOwn = (name: string): boolean => OF_THE_MACHINE.test(name) || OURS.test(name) || names.has(name)
  return Object.fromEntries(Object.entries(person).filter(([name]) => isOwn(name)))
}
