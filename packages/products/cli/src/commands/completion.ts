import { command, type Group } from '../command.ts'
import { usage } from '../failure.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** Words by the words before them: `''` has the first words, `calls` its commands, `calls dial` its options. */
export function completions(groups: readonly Group[]): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>()
  const add = (before: string, word: string): void => void words.set(before, [...(words.get(before) ?? []), word])
  for (const { name: group, commands } of groups) {
    if (group !== '') add('', group)
    for (const { name, options = [] } of commands) {
      add(group, name)
      const flags = options.map(([option]) => option.split(' ')[0] ?? '')
      words.set(`${group} ${name}`.trim(), [...flags, '--json', '--profile', '--help'])
    }
  }
  return words
}

/** A script that completes commands and options. It contains all words, so completing starts no process. */
export function completionScript(shell: Shell, groups: readonly Group[]): string {
  const words = completions(groups)
  const inner = [...words.keys()].filter((key) => key !== '')
  if (shell === 'fish') {
    const lines = [...words].map(
      ([key, candidates]) =>
        `complete -c switchhook -f -n 'test "$(__switchhook_words)" = "${key}"' -a '${candidates.join(' ')}'`,
    )
    return `function __switchhook_words
  set -l words
  for word in (commandline -opc)[2..]
    contains -- (string trim -- "$words $word") ${inner.map((key) => `'${key}'`).join(' ')}; and set words (string trim -- "$words $word")
  end
  echo $words
end
${lines.join('\n')}`
  }
  const cases = [...words]
    .map(([key, candidates]) => `    '${key}') candidates='${candidates.join(' ')}' ;;`)
    .join('\n')
  const zsh = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''
  return `${zsh}_switchhook() {
  local word key='' candidates=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "\${key:+$key }$word" in
      ${inner.map((key) => `'${key}'`).join('|')}) key="\${key:+$key }$word" ;;
    esac
  done
  case "$key" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _switchhook switchhook`
}

export const completion = command({
  name: 'completion',
  summary: 'print a completion script, for example: source <(switchhook completion bash)',
  args: [['<shell>', SHELLS.join(', ')]],
  run: async ({ out, groups }, [named]) => {
    const shell = SHELLS.find((each) => each === named)
    if (shell === undefined) throw usage(`Completion is for ${SHELLS.join(', ')}.`)
    out.print(completionScript(shell, groups))
  },
})
