import type { Command, Group } from '../command.ts'
import { usage } from '../exit.ts'
import { completionScript, isShell, SHELLS } from './completion-script.ts'

const completion: Command = {
  name: 'completion',
  summary: 'print a completion script, for example: source <(switchhook completion bash)',
  args: [['<shell>', SHELLS.join(', ')]],
  run: async ({ out, groups }, [shell = '']) => {
    if (!isShell(shell)) throw usage(`Completion is for ${SHELLS.join(', ')}.`)
    out.print(completionScript(shell, groups))
  },
}

export const completing: Group = { name: '', summary: 'completion', commands: [completion] }
