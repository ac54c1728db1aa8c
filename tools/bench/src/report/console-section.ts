import type { ConsoleFigure } from '../figures/console.ts'
import { round } from '../measure/statistics.ts'

export const consoleSection = ({ firstLoadBytes, allBytes, runs, screens }: ConsoleFigure): string => `## The console

| files, with gzip | KiB |
| ---------------- | --- |
| what the sign-in page loads | ${kib(firstLoadBytes)} |
| all | ${kib(allBytes)} |

${screens === null ? 'First paint: not measured, because this machine has no Chromium.' : timesOf(screens, runs)}
`

const timesOf = (screens: NonNullable<ConsoleFigure['screens']>, runs: number): string =>
  `Times in Chromium on the machine that also runs the stack, without a network between them, from the start of the
navigation. _Complete_: the answers of the api are on the screen. Medians of ${runs} runs.

| screen | first paint, ms | complete, ms |
| ------ | --------------- | ------------ |
${screens.map(({ screen, firstPaintMs, completeMs }) => `| ${screen} | ${firstPaintMs} | ${completeMs} |`).join('\n')}`

const kib = (bytes: number): number => round(bytes / 1_024)
