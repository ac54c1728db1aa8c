import { tmpdir } from 'node:os'
import { runStep } from './run-step.ts'

test.each([
  ['takes too long', 0.01, 60_000, 'It was ended after 0.01 minutes.\nbegun\n'],
  ['is stopped', 1, 600, 'begun\n'],
])(
  'a step that %s is ended with its children, and what it printed is shown',
  async (_why, minutes, stoppedAfterMs, said) => {
    // The step settles when nothing holds its output open any more, so the child has ended, too.
    const step = runStep('sleep 60 & echo begun; wait', tmpdir(), {}, minutes, AbortSignal.timeout(stoppedAfterMs))
    await expect(step).rejects.toThrow(new Error(said))
  },
)
