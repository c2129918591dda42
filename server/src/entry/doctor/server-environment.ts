import { readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'

/** The source of the server's release key file, as far as another process can determine it. */
export type ServerKeyFile =
  /** No server is running. The next one gets the environment of this command. */
  | { server: 'stopped' }
  /** The server is running, and the operating system does not show its environment to this user. */
  | { server: 'unreadable' }
  | { server: 'running'; file: string | null }

const nameOfVariable = 'PORTCULLIS_RELEASE_KEY_FILE='

/** Reads the release key file from the environment of the running server. Reads no other variable. */
export const serverKeyFile = (pid: number | null, isRunning: boolean): ServerKeyFile => {
  if (pid === null) return { server: isRunning ? 'unreadable' : 'stopped' }
  try {
    const variable = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .find((one) => one.startsWith(nameOfVariable))
    const file = variable?.slice(nameOfVariable.length) ?? ''
    return { server: 'running', file: file === '' ? null : resolve(readlinkSync(`/proc/${pid}/cwd`), file) }
  } catch {
    return { server: 'unreadable' }
  }
}
