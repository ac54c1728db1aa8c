import { spawn } from 'node:child_process'
import { joinTestRun } from '../test-run/join-test-run.ts'

/** A program that starts a server for its tests, in a session of its own. */
joinTestRun()
const server = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
process.stdout.write(`${process.pid} ${server.pid}\n`)
setInterval(() => {}, 60_000)
