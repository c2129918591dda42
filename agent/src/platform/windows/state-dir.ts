/** The state directory on Windows. Every user can create folders in ProgramData, even before the agent is installed. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the default folder for keys, settings, spool and log. */
export const defaultStateDir = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env.ProgramData ?? 'C:\\ProgramData', 'Portcullis Agent')

/**
 * The owner is Administrators. SYSTEM and Administrators have full access, also to the contents. Nothing is inherited.
 */
export const PRIVATE = 'O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'

/** An open folder or file. It stays the same until it is closed, even if its path changes. */
export interface OpenEntry {
  isDirectory: boolean
  /** Whether it is a link to another folder or file (a reparse point). */
  isLink: boolean
  /** Number of names of a file. */
  names: number
  /** Owner and access list as SDDL. Undefined if Windows does not return them. */
  sddl(): string | undefined
  /** Sets the access list of a folder and of everything in it. Returns false if Windows refuses. */
  protect(sddl: string): boolean
  close(): void
}

/** The Windows calls. */
export interface FolderSecurity {
  /** Creates a folder with an owner and access list. Returns false if Windows refuses or the name exists. */
  create(path: string, sddl: string): boolean
  /** Opens an entry itself, not the target of a link. Undefined if it does not exist or Windows refuses. */
  open(path: string): OpenEntry | undefined
}

const MAX_ENTRIES = 4096

const ownerOf = (sddl: string | undefined): string | undefined => /^O:([A-Z0-9-]+?)(?=[GDS]:|$)/.exec(sddl ?? '')?.[1]
/** LocalSystem and Administrators. */
const isTrusted = (owner: string | undefined): boolean => owner === 'SY' || owner === 'BA'

/** Returns whether only SYSTEM and Administrators have access, and nothing is inherited. */
const isPrivate = (sddl: string | undefined): boolean => {
  const [, flags = '', entries = ''] = /D:([A-Z]*)((?:\([^()]*\))*)$/.exec(sddl ?? '') ?? []
  const list = entries.match(/\([^()]*\)/g) ?? []
  const isOurs = list.every((entry) => entry === '(A;OICI;FA;;;SY)' || entry === '(A;OICI;FA;;;BA)')
  return isTrusted(ownerOf(sddl)) && flags.includes('P') && isOurs && entries.includes('SY')
}

const remedy = 'Check where it comes from, remove it and install the agent again.'

/** Opens an entry, uses it and closes it. */
const using = <T>(entry: OpenEntry, use: (entry: OpenEntry) => T): T => {
  try {
    return use(entry)
  } finally {
    entry.close()
  }
}

/** Throws if another user may have placed content in the folder before it was private. */
const checkContent = (security: FolderSecurity, dir: string, list: (dir: string) => string[]): void => {
  const waiting = [dir]
  let count = 0
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const name of list(folder)) {
      const path = join(folder, name)
      if (++count > MAX_ENTRIES) throw new Error(`it contains more than ${MAX_ENTRIES} files. ${remedy}`)
      const entry = security.open(path)
      if (entry === undefined) throw new Error(`${path} cannot be checked. ${remedy}`)
      using(entry, ({ isLink, isDirectory, names, sddl }) => {
        const isForeign = !isTrusted(ownerOf(sddl()))
        if (isForeign || isLink || (!isDirectory && names > 1))
          throw new Error(`${path} may have been created by another user. ${remedy}`)
        if (isDirectory) waiting.push(path)
      })
    }
}

/**
 * Creates the state directory if necessary, with access for SYSTEM and Administrators only, and reads that back.
 *
 * @throws an error with the reason if somebody else created it, if it is a link, or if Windows keeps another access list
 */
export const createStateDir =
  (security: FolderSecurity, list: (dir: string) => string[] = readdirSync) =>
  (dir: string): void => {
    security.create(dir, PRIVATE)
    const folder = security.open(dir)
    if (folder === undefined) throw new Error('it cannot be created or opened. Run the agent as an administrator')
    using(folder, (open) => {
      if (open.isLink) throw new Error(`it is a link to another folder. ${remedy}`)
      if (!open.isDirectory) throw new Error(`it is not a folder. ${remedy}`)
      if (!isTrusted(ownerOf(open.sddl()))) throw new Error(`another user created it. ${remedy}`)
      if (!isPrivate(open.sddl()) && !open.protect(PRIVATE))
        throw new Error('Windows refused to restrict the access to it')
      if (!isPrivate(open.sddl())) throw new Error('other users still have access to it. Use a folder on an NTFS disk')
      // Other users cannot add files once the access list is set. Each start checks again, because a refusal keeps the
      // files.
      checkContent(security, dir, list)
    })
  }
