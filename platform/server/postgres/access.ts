import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Owner, ownName } from './owner.ts'

/** Paths of the rules that decide who may connect. */
export interface Access {
  hba: string
  ident: string
}

const RULE = 'local all,replication all peer map=portcullis\n'

/**
 * Writes the rules that decide who may connect, outside the cluster, so that they belong to this process and apply to
 * clusters of earlier releases too. The kernel names the connecting user: only this process's user and the database
 * user may connect. They can read the files of the database anyway, so they may use every role.
 */
export function writeAccess(dataDir: string, owner: Owner): Access {
  const dir = join(dataDir, 'postgres-access')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir)
  const write = (name: string, text: string): string => {
    const path = join(dir, name)
    writeFileSync(path, text)
    chmodSync(path, 0o644)
    return path
  }
  chmodSync(dir, 0o755)
  const users = new Set([ownName(), owner.name])
  return {
    hba: write('pg_hba.conf', RULE),
    ident: write(
      'pg_ident.conf',
      [...users].map((user) => `portcullis "${user.replaceAll('"', '""')}" all\n`).join(''),
    ),
  }
}
