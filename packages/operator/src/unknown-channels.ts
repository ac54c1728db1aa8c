import { asteriskFields, asteriskServer, openUnknown } from '@switchhook/platform'
import { loadConfig, redisFields, redisRules } from '@switchhook/runtime'
import { createInstallationStore, createStateStore } from '@switchhook/store'
import { runCommandLine } from './command-line.ts'
import { parseCommand, runCommand, USAGE } from './unknown-channels-command.ts'
import { requireAsterisk, serverFields } from './watch-asterisk.ts'
import { withRedis } from './with-redis.ts'

const ABSENT = { version: 0, value: undefined }

/** `node dist/unknown-channels.js`, in the api image: lists and ends channels in Asterisk that belong to no stored call. */
export const runUnknownChannels = (args: readonly string[]): void =>
  runCommandLine(parseCommand(args), USAGE, async (command, print) => {
    const { ASTERISK_APP } = asteriskFields
    const config = loadConfig({ ...redisFields, ...serverFields, ASTERISK_APP }, process.env, [
      ...redisRules,
      requireAsterisk,
    ])
    await withRedis('unknown-channels', config, async (redis) => {
      const store = createStateStore(redis)
      const unknown = openUnknown({
        server: asteriskServer(config),
        app: config.ASTERISK_APP,
        memory: {
          read: async (tenant, keys) => (await store.read(tenant, keys)).map((record) => record ?? ABSENT),
        },
        verifyStorage: async () => {
          if ((await createInstallationStore(redis).read()) !== undefined) return
          throw new Error(
            'Redis holds no installation. Restore its data first: every call in Asterisk is unknown without it.',
          )
        },
      })
      try {
        await runCommand(command, unknown, print)
      } finally {
        await unknown.close()
      }
    })
  })
