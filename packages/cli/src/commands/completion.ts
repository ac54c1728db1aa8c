import { command } from '../command.ts'
import { usage } from '../exit.ts'
import { completionScript, isShell, SHELLS } from './completion-script.ts'

export const completion = command({
  name: 'completion',
  summary: 'print a completion script, for example: source <(switchhook completion bash)',
  args: [['<shell>', SHELLS.join(', ')]],
  run: async ({ out, groups }, [shell = '']) => {
    if (!isShell(shell)) throw usage(`Completion is for ${SHELLS.join(', ')}.`)
    out.print(completionScript(shell, groups))
  },
})
