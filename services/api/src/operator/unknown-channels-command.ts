import { asteriskFields, asteriskServer, openUnknown, type UnknownInAsterisk } from '@switchhook/platform-asterisk'
import { loadConfig, redisFields, redisRules, startFields, startRules } from '@switchhook/runtime'
import { parseCommandLine, runCommandLine, withRedis } from '@switchhook/service'
import { createInstallationStore, createStateStore } from '@switchhook/store'
import { requireAsterisk, serverFields } from './watch-asterisk-command.ts'

export type UnknownChannelsCommand =
  | { readonly name: 'list' }
  /** `ids` null: all. */
  | { readonly name: 'remove'; readonly ids: readonly string[] | null }

const USAGE = `usage: node unknown-channels.js list            print the channels in Asterisk without a stored call
       node unknown-channels.js remove <id>…    end these of them, even during a conversation
       node unknown-channels.js remove all      end all of them
The variables ASTERISK_… and REDIS_… are those of the api.`

export const parseCommand = (args: readonly string[]): UnknownChannelsCommand =>
  parseCommandLine(args, ([name, ...ids]): UnknownChannelsCommand => {
    if (name === 'list' && ids.length === 0) return { name }
    if (name !== 'remove' || ids.length === 0) throw new Error('expected list, remove <id>… or remove all')
    return { name, ids: ids.length === 1 && ids[0] === 'all' ? null : ids }
  })

/**
 * Prints one JSON line per channel, after its removal if it is removed. Ids of other channels are refused before anything is
 * removed, because they may belong to a stored call.
 * @throws Error with the reason if the command is refused
 */
export async function runCommand(
  command: UnknownChannelsCommand,
  { list, remove }: Pick<UnknownInAsterisk, 'list' | 'remove'>,
  print: (line: string) => void,
): Promise<void> {
  const unknown = await list()
  const ids = command.name === 'remove' ? command.ids : null
  const others = ids?.filter((id) => !unknown.some((one) => one.id === id)) ?? []
  if (others.length > 0) throw new Error(`not an unknown channel: ${others.join(', ')}`)
  for (const one of unknown.filter(({ id }) => ids === null || ids.includes(id))) {
    if (command.name === 'remove') await remove(one)
    const { channel, session, isTalking } = one
    const { name, state, creationtime, caller } = channel
    const call = { callId: session.sessionId, tenant: session.tenant }
    print(JSON.stringify({ id: one.id, name, state, isTalking, since: creationtime, caller: caller.number, ...call }))
  }
}

/** `node dist/unknown-channels.js`, in the api image: lists and ends channels in Asterisk without a stored call. */
export const runUnknownChannels = (args: readonly string[]): void =>
  runCommandLine(args, USAGE, parseCommand, async (command, print) => {
    const { ASTERISK_APP } = asteriskFields
    const config = loadConfig({ ...redisFields, ...serverFields, ...startFields, ASTERISK_APP }, process.env, [
      ...redisRules,
      requireAsterisk,
      ...startRules,
    ])
    await withRedis('unknown-channels', config, async (redis) => {
      const unknown = openUnknown({
        server: asteriskServer(config),
        app: config.ASTERISK_APP,
        memory: createStateStore(redis),
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
