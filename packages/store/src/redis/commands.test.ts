import * as fc from 'fast-check'
import { callsOf, type ScriptPart } from './commands.ts'

const partOf = (tag: string, args: number): ScriptPart => ({
  keys: [`sh:{${tag}}:list`],
  args: Array<string>(args).fill('x'.repeat(300)),
})

const keysOf = (parts: readonly ScriptPart[]): string[] => parts.flatMap(({ keys }) => keys)

const argsOf = (parts: readonly ScriptPart[]): number => parts.reduce((sum, { args }) => sum + args.length, 0)

test('every part is in one call, in its order, and only a single part can exceed the limits of a call', () => {
  const parts = fc.array(
    fc.tuple(fc.constantFrom('t:a', 't:b', 's:c'), fc.nat(1_000)).map(([tag, args]) => partOf(tag, args)),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(parts, fc.boolean(), (some, mayMixTags) => {
      const calls = callsOf(some, mayMixTags)
      for (const call of calls) {
        expect(call.length).toBeGreaterThan(0)
        if (!mayMixTags) expect(new Set(keysOf(call)).size).toBe(1)
        if (call.length > 1) {
          expect(argsOf(call)).toBeLessThanOrEqual(1_500)
          expect(argsOf(call) * 300).toBeLessThanOrEqual(256 * 1_024)
        }
      }
      const orderOf = (all: readonly ScriptPart[], key: string) =>
        all.filter(({ keys }) => mayMixTags || keys[0] === key)
      for (const key of new Set(keysOf(some))) expect(orderOf(calls.flat(), key)).toEqual(orderOf(some, key))
    }),
  )
})

test('parts of different hash tags share a call where they may', () => {
  const [first, second, third] = [partOf('t:a', 1), partOf('t:b', 2), partOf('t:a', 3)] as const
  expect(callsOf([first, second, third], true)).toEqual([[first, second, third]])
  expect(callsOf([first, second, third], false)).toEqual([[first, third], [second]])
  expect(callsOf([], true)).toEqual([])
})
