import { readdirSync, readFileSync } from 'node:fs'

/** Returns the text of a file. Empty if it is missing or unreadable, or if its device was removed. */
export const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the names in a directory. Empty if it is missing or unreadable. */
export const list = (path: string): string[] => {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
