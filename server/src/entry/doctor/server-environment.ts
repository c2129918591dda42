import { readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '@portcullis/platform/server/config.ts'

/** The source of the server's release key file, as far as another process can determine it. */
export type ServerKeyFile =
  /** No server is running. The next one gets the environment of this command. */
  | { server: 'stopped' }
  /** The server is running, and the operating system does not show its environment to this user. */
  | { server: 'unreadable' }
  | { server: 'running'; file: string | null }

/** Reads one variable of a running process. @throws if the operating system does not show it to this user */
const variableOf = (pid: number, name: string): string =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? ''

/** Returns where a running server listens, from its environment; null: unknown. */
export const serverAddress = (pid: number): { host: string; port: number } | null => {
  try {
    const { host, port } = loadConfig(
      Object.fromEntries(
        ['PORTCULLIS_HOST', 'PORTCULLIS_PORT'].flatMap((name) => {
          const value = variableOf(pid, name)
          return value === '' ? [] : [[name, value]]
        }),
      ),
      true,
    )
    // Port 0 is any free port.
    return port === 0 ? null : { host, port }
  } catch {
    return null
  }
}

/** Reads the release key file from the environment of the running server. */
export const serverKeyFile = (pid: number | null, isRunning: boolean): ServerKeyFile => {
  if (pid === null) return { server: isRunning ? 'unreadable' : 'stopped' }
  try {
    const file = variableOf(pid, 'PORTCULLIS_RELEASE_KEY_FILE')
    return { server: 'running', file: file === '' ? null : resolve(readlinkSync(`/proc/${pid}/cwd`), file) }
  } catch {
    return { server: 'unreadable' }
  }
}
