import { clear } from './clear.ts'

const [mark = '', ...places] = process.argv.slice(2)
// Its standard input ends with the process that started it, however that process ends.
process.stdin.on('error', () => {}).resume()
process.stdin.once('close', () => void clear(mark, places))
