import { statSync } from 'node:fs'
import { hasFakeTimers } from './fake-timers.mjs'

function largestFirst(tests) {
  const sizes = new Map(tests.map((test) => [test, statSync(test.path).size]))
  return tests.toSorted((a, b) => sizes.get(b) - sizes.get(a) || (a.path < b.path ? -1 : 1))
}

/**
 * Deals the test files, the largest first, to the shards and back again. Jest would deal them by a hash of their paths, and
 * one shard then has half as much to do again as another. The size of a file is the best known measure of its time.
 * See `testSequencer`, https://jestjs.io/docs/configuration#testsequencer-string
 */
export default class Sequencer {
  /**
   * Files with fake timers come first. What an earlier file left running in our modules would set its next timer with the fake
   * clock, and wait for ever: all deadlines of the process would stand still.
   */
  sort(tests) {
    const { fake = [], real = [] } = Object.groupBy(largestFirst([...tests]), ({ path }) =>
      hasFakeTimers(path) ? 'fake' : 'real',
    )
    return [...fake, ...real]
  }

  shard(tests, { shardIndex, shardCount }) {
    return largestFirst([...tests]).filter((_test, n) => {
      const place = n % (2 * shardCount)
      return shardIndex === 1 + Math.min(place, 2 * shardCount - 1 - place)
    })
  }

  allFailedTests(tests) {
    return tests
  }

  cacheResults() {}
}
