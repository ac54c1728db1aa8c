import { unusualSince } from './broker-log.ts'

const LOG = `2026-11-29 08:51:12.999999+00:00 [warning] <0.1.0> before the file began
2026-11-29 08:51:13.228646+00:00 [notice] <0.556.1> queue 'a' in vhost 'b': candidate -> leader in term: 1 machine version: 2
2026-11-29 08:51:13.228729+00:00 [info] <0.394.1> ra: started cluster
2026-11-29 08:51:13.300000+00:00 [error] <0.1.1> Channel error on connection <0.9.1> (vhost: 'b'), channel 1:
2026-11-29 08:51:13.300000+00:00 [error] <0.1.1> operation queue.declare caused a channel exception not_found: no queue 'a'
2026-11-29 08:51:14.500000+00:00 [warning] <0.2.0> memory resource limit alarm set
2026-11-29 08:51:14.600000+00:00 [error] <0.3.0> ** Generic server terminating
** Reason: {badmatch,eof}
2026-11-29 08:51:14.700000+00:00 [notice] <0.556.1> queue 'a' in vhost 'b': terminating with reason 'delete'
`

test('of the log of RabbitMQ, the report has the unusual lines since a file began', () => {
  expect(unusualSince(LOG, Date.parse('2026-11-29T08:51:13Z'))).toBe(
    [
      '2026-11-29 08:51:14.500000+00:00 [warning] <0.2.0> memory resource limit alarm set',
      '2026-11-29 08:51:14.600000+00:00 [error] <0.3.0> ** Generic server terminating',
      '** Reason: {badmatch,eof}',
    ].join('\n'),
  )
})

test('the report has the end of a long log', () => {
  const long = Array.from({ length: 1_000 }, (_, n) => `2026-11-29 08:51:14.500000+00:00 [error] <0.1.0> ${n}`)
  const told = unusualSince(long.join('\n'), 0).split('\n')
  expect([told.length, told.at(-1)]).toEqual([200, long.at(-1)])
})
