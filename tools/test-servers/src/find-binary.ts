import { accessSync, constants } from 'node:fs'
import { delimiter, resolve } from 'node:path'

/** Packages install servers here; the PATH of an ordinary user often omits these folders. */
const SERVER_FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/bin',
  '/opt/homebrew/sbin',
  '/opt/homebrew/bin',
]

export function findBinary(name: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter)
  return [...folders, ...path, ...SERVER_FOLDERS].map((folder) => resolve(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
