import { evaluateInBroker } from './evaluate-in-broker.ts'

const evaluate = evaluateInBroker()
const testWhenOurs = evaluate === undefined ? test.skip : test

testWhenOurs('code that the broker evaluates resolves, and code that fails rejects', async () => {
  await evaluate?.('pong = net_adm:ping(node()).')
  await expect(evaluate?.('ok = error.')).rejects.toThrow(/error/)
  await expect(evaluate?.('no code')).rejects.toThrow(/error/)
})
