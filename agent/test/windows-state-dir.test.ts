import { describe, expect, it } from 'vitest'
import { createStateDir, defaultStateDir, type FolderSecurity, PRIVATE } from '../src/platform/windows/state-dir.ts'

interface Entry {
  kind: 'folder' | 'file' | 'link'
  sddl: string | undefined
  names: number
}

const DIR = 'C:\\ProgramData\\Portcullis Agent'
/** Inherited from ProgramData: users can create files. */
const INHERITED =
  'D:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIIOID;GA;;;CO)(A;OICIID;0x1200a9;;;BU)(A;CIID;DCLCRPCR;;;BU)'
const USER = 'S-1-5-21-1004336348-1177238915-682003330-1001'

/** Folders that behave as on Windows. `faults` makes Windows refuse, or report an access list that it did not store. */
const createFolders = (faults: { refusesCreate?: boolean; refusesProtect?: boolean; keeps?: string } = {}) => {
  const entries = new Map<string, Entry>()
  let open = 0
  const security: FolderSecurity = {
    create(path, sddl) {
      if (faults.refusesCreate || entries.has(path)) return false
      entries.set(path, { kind: 'folder', sddl: faults.keeps ?? sddl, names: 1 })
      return true
    },
    open(path) {
      const entry = entries.get(path)
      if (entry === undefined) return undefined
      open++
      return {
        isDirectory: entry.kind === 'folder',
        isLink: entry.kind === 'link',
        names: entry.names,
        sddl: () => entry.sddl,
        protect(sddl) {
          if (faults.refusesProtect) return false
          const owner = entry.sddl?.split('D:')[0]
          entry.sddl = faults.keeps ?? `${owner}${sddl.slice(sddl.indexOf('D:'))}`
          return true
        },
        close: () => void open--,
      }
    },
  }
  const list = (dir: string): string[] =>
    [...entries.keys()]
      .filter((path) => path.startsWith(`${dir}/`))
      .map((path) => path.slice(dir.length + 1))
      .filter((name) => !name.includes('/'))
  const add = (path: string, kind: Entry['kind'], sddl: string | undefined, names = 1) =>
    entries.set(path, { kind, sddl, names })
  const prepare = createStateDir(security, list)
  return { add, entries, open: () => open, prepare: () => prepare(DIR), sddl: () => entries.get(DIR)?.sddl }
}

describe('the state directory of Windows', () => {
  it('is created with access for SYSTEM and Administrators only', () => {
    const folders = createFolders()
    folders.prepare()
    expect([folders.sddl(), folders.open()]).toEqual([PRIVATE, 0])
    folders.prepare()
    expect(folders.open()).toBe(0)
  })

  it.each([
    ['a folder of another user', 'folder', `O:${USER}${INHERITED}`, 'another user created it'],
    ['a folder of another user that looks private', 'folder', PRIVATE.replace('O:BA', `O:${USER}`), 'another user'],
    ['a folder whose owner is a group of users', 'folder', `O:BU${INHERITED}`, 'another user created it'],
    ['a folder without a known owner', 'folder', undefined, 'another user created it'],
    ['a link', 'link', PRIVATE, 'it is a link to another folder'],
    ['a file', 'file', PRIVATE, 'it is not a folder'],
  ] as const)('refuses %s', (_, kind, sddl, message) => {
    const folders = createFolders()
    folders.add(DIR, kind, sddl)
    expect(folders.prepare).toThrow(message)
    expect([folders.sddl(), folders.open()]).toEqual([sddl, 0])
  })

  it('restricts a folder of an administrator, with what administrators put into it', () => {
    const folders = createFolders()
    folders.add(DIR, 'folder', `O:BA${INHERITED}`)
    folders.add(`${DIR}/token`, 'file', 'O:BAD:AI(A;ID;FA;;;SY)')
    folders.add(`${DIR}/versions`, 'folder', 'O:SYD:AI(A;ID;FA;;;SY)')
    folders.add(`${DIR}/versions/agent.cjs`, 'file', 'O:SYD:AI(A;ID;FA;;;SY)')
    folders.prepare()
    expect(folders.sddl()).toBe(PRIVATE)
  })

  it.each([
    ['a file of a user', 'token', 'file', `O:${USER}D:(A;;FA;;;SY)`, 1],
    ['a file with two names', 'token', 'file', 'O:SYD:(A;;FA;;;SY)', 2],
    ['a link', 'versions', 'link', 'O:SYD:(A;;FA;;;SY)', 1],
    ['a file of a user in a folder', 'versions/agent.cjs', 'file', `O:${USER}D:(A;;FA;;;SY)`, 1],
  ] as const)('refuses a folder that was open to users and contains %s', (_, name, kind, sddl, names) => {
    const folders = createFolders()
    folders.add(DIR, 'folder', `O:SY${INHERITED}`)
    folders.add(`${DIR}/versions`, 'folder', 'O:SYD:(A;;FA;;;SY)')
    folders.add(`${DIR}/${name}`, kind, sddl, names)
    expect(folders.prepare).toThrow('may have been created by another user')
    // The folder is private now, but its content is not trusted at the next start either.
    expect(folders.prepare).toThrow('may have been created by another user')
    expect(folders.open()).toBe(0)
  })

  it.each([
    ['inherits from its parent', 'O:BAD:AI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'],
    ['is readable by users', 'O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)'],
    ['is open to everyone', 'O:BAD:PAI(A;OICI;FA;;;WD)'],
    ['has no access list', 'O:BA'],
    ['has an empty access list', 'O:BAD:P'],
    ['allows nothing', 'O:BAD:NO_ACCESS_CONTROL'],
  ])('fails if Windows keeps a folder that %s', (_, keeps) => {
    expect(createFolders({ keeps }).prepare).toThrow('other users still have access to it')
  })

  it('fails if Windows refuses', () => {
    expect(createFolders({ refusesCreate: true }).prepare).toThrow('it cannot be created or opened')
    const folders = createFolders({ refusesProtect: true })
    folders.add(DIR, 'folder', `O:BA${INHERITED}`)
    expect(folders.prepare).toThrow('Windows refused to restrict the access to it')
  })

  it('is in ProgramData', () => {
    expect(defaultStateDir({ ProgramData: 'D:\\Data' })).toMatch(/^D:\\Data.Portcullis Agent$/)
    expect(defaultStateDir({})).toMatch(/^C:\\ProgramData.Portcullis Agent$/)
  })
})
