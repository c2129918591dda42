import { spawn } from 'node:child_process'
import { messageOf } from '../../exit.ts'
import type { Platform } from '../platform.ts'

/** Time limit for the program, because a blocked terminal could stop it forever. */
const LIMIT_MS = 10_000

/** Shows texts with a program that reads its standard input. Undefined without a program. */
export const createMessage = (command: readonly string[] | undefined): Platform['showMessage'] => {
  const [program, ...args] = command ?? []
  if (program === undefined) return undefined
  return (text, onFailure) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    })
    child.on('error', (error) => onFailure(messageOf(error)))
    // The program may end without reading the text.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(text)
  }
}
