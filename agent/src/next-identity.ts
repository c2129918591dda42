import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, removeIfThere, syncDirectory, writeDurable } from './files.ts'
import { sha256Hex } from './keys.ts'
import { createState, type State } from './state.ts'

/** Files of an identity, in the order in which they replace the old ones. */
const FILES = ['key.pem', 'ca.pem', 'identity.json'] as const

const exists = (path: string): boolean => readIfThere(path) !== undefined

/**
 * Keeps the files of an enrolment that replaces an identity apart until it has succeeded. Until then the host keeps its
 * identity, so a wrong token or an unreachable server does not separate it from its server.
 */
export const createNextIdentity = (state: Pick<State, 'dir'>) => {
  const dir = join(state.dir, 'next')
  const tokenPath = join(dir, 'token')
  const remove = (): void => rmSync(dir, { recursive: true, force: true })
  return {
    /** Returns the state of the next identity. A retry with the same token continues with the same key. */
    open(token: string): State {
      if (readIfThere(tokenPath) !== sha256Hex(token)) {
        remove()
        mkdirSync(dir, { recursive: true, mode: 0o700 })
        writeDurable(tokenPath, sha256Hex(token))
      }
      return createState(dir)
    },
    /** Replaces the old identity if the next one is complete. Continues after an interruption. */
    adopt(): void {
      if (exists(join(dir, 'identity.json'))) {
        for (const name of FILES) if (exists(join(dir, name))) renameSync(join(dir, name), join(state.dir, name))
        // An empty file says that no certificate is pinned.
        if (readIfThere(join(state.dir, 'ca.pem')) === '') removeIfThere(join(state.dir, 'ca.pem'))
        syncDirectory(state.dir)
        remove()
      }
    },
  }
}
