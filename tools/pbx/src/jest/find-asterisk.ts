import { joinTestRun } from '@switchhook/test-servers'
import { AsteriskUnavailable, asteriskFiles } from '../asterisk-files.ts'

/**
 * Jest's global set-up: the tests run if there is an Asterisk, and otherwise are skipped with the reason in their name. What
 * they start ends with this process.
 */
async function findAsterisk(): Promise<void> {
  joinTestRun()
  try {
    process.env['ASTERISK_ROOT'] = await asteriskFiles()
  } catch (error) {
    if (!(error instanceof AsteriskUnavailable)) throw error
    process.env['ASTERISK_MISSING'] = error.message
    process.stdout.write(`  The tests with a real Asterisk are skipped: ${error.message}\n`)
  }
}

export default findAsterisk
