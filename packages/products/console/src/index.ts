export { type ConsoleFile, type ConsoleFiles, loadConsole } from './load-console.ts'
