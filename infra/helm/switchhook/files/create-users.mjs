/**
 * Creates a user of RabbitMQ for each service, with its permissions, or updates it. Runs with Node alone. Waits for RabbitMQ
 * without a limit: a new cluster takes minutes.
 *
 *   MANAGEMENT_URL        http://host:15672/vhost; required
 *   MANAGEMENT_USERNAME   a user with the tag `administrator`; required
 *   MANAGEMENT_PASSWORD   its password; required
 *   USERS                 a JSON file: name → { tags, configure, write, read }; required
 *   PASSWORDS             a folder with a file for each name; required
 *   PREFIX                of the names in RabbitMQ (switchhook-)
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ANSWER_MS = 30_000
const INTERVAL_MS = 2_000

async function put(path, body) {
  const response = await fetch(`${origin}/api/${path}`, {
    method: 'PUT',
    headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  if (!response.ok) throw new Error(`it answered ${response.status} to PUT /api/${path}`)
}

async function create({ name, password, tags, permissions }) {
  await put(`users/${name}`, { password, tags })
  await put(`permissions/${vhost}/${name}`, permissions)
  process.stdout.write(`${name}\n`)
}

function refuse(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

const {
  MANAGEMENT_URL,
  MANAGEMENT_USERNAME,
  MANAGEMENT_PASSWORD,
  USERS,
  PASSWORDS,
  PREFIX = 'switchhook-',
} = process.env
if (!URL.canParse(MANAGEMENT_URL)) refuse('MANAGEMENT_URL must be http://host:15672/vhost')
const { origin, pathname } = new URL(MANAGEMENT_URL)
const credentials = Buffer.from(`${MANAGEMENT_USERNAME}:${MANAGEMENT_PASSWORD}`).toString('base64')
const vhost = pathname.slice(1) || encodeURIComponent('/')
const users = Object.entries(JSON.parse(readFileSync(USERS, 'utf8'))).map(([name, { tags, ...permissions }]) => ({
  name: `${PREFIX}${name}`,
  // As the services read it: white space around it is not part of it.
  password: readFileSync(join(PASSWORDS, name), 'utf8').trim(),
  tags,
  permissions,
}))
// RabbitMQ accepts an empty password, and then refuses every login with it.
const empty = users.filter((user) => user.password === '').map(({ name }) => name)
if (empty.length > 0) refuse(`the password is empty: ${empty.join(', ')}`)
// The services refuse it.
const broken = users.filter((user) => /\p{Cc}/u.test(user.password)).map(({ name }) => name)
if (broken.length > 0) refuse(`the password must be one line without control characters: ${broken.join(', ')}`)

// Process 1 has no default action for signals.
process.on('SIGTERM', () => process.exit(143))
for (const user of users) {
  for (let isDone = false; !isDone; ) {
    try {
      await create(user)
      isDone = true
    } catch (error) {
      process.stderr.write(`waiting: RabbitMQ does not create ${user.name} (${error.cause?.code ?? error.message})\n`)
      await sleep(INTERVAL_MS)
    }
  }
}
