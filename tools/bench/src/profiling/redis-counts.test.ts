import { countsBetween, parseRedisCounts } from './redis-counts.ts'

test('the processor time of the main thread, and the calls between two readings', () => {
  const before = parseRedisCounts(
    'used_cpu_sys:9.0\r\nused_cpu_sys_main_thread:0.5\r\nused_cpu_user_main_thread:1.25\r\n',
    '# Commandstats\r\ncmdstat_get:calls=2,usec=10,usec_per_call=5.00\r\n',
  )
  const after = parseRedisCounts(
    'used_cpu_sys_main_thread:0.75\r\nused_cpu_user_main_thread:1.5\r\n',
    'cmdstat_get:calls=5,usec=40,usec_per_call=8.00\r\ncmdstat_config|get:calls=1,usec=3,usec_per_call=3.00\r\n',
  )
  expect(countsBetween(before, after)).toEqual({
    systemUs: 250_000,
    userUs: 250_000,
    calls: { GET: 3, 'CONFIG|GET': 1 },
  })
  expect(countsBetween(after, after)).toEqual({ systemUs: 0, userUs: 0, calls: {} })
})
