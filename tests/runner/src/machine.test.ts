import { availableIn, machineLine, portsIn } from './machine.ts'

test('free memory is what a program can have', () => {
  expect(availableIn('MemTotal:       4 kB\nMemFree:        1 kB\nMemAvailable:   3 kB\n')).toBe(3 * 1024)
  expect(availableIn('')).toBeUndefined()
})

test('ports are counted by their state', () => {
  const row = (state: string) => `  0: 0100007F:1F90 00000000:0000 ${state} 00000000:00000000`
  const tables = [['heading', row('0A'), row('01'), row('06')].join('\n'), ['heading', row('0A')].join('\n')]
  expect(portsIn(tables, '32768\t60999\n')).toBe('ports: 2 listen, 2 in connections, of 28232 for connections')
  expect(portsIn(['', ''], '')).toBe('ports: 0 listen, 0 in connections')
})

test('one line has load, cores and memory', () => {
  expect(machineLine()).toMatch(/^load [\d.]+ [\d.]+ [\d.]+ on \d+ cores, [\d.]+ GB of [\d.]+ GB memory free$/)
})
