/** Runs under Wine: creates state directories, including at paths that are links or files. */
import { existsSync, writeFileSync } from 'node:fs'
import {
  createFolderSecurity,
  runsUnderWine,
  withoutAccessLists,
} from '../../../agent/src/platform/windows/folder-security.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createStateDir, defaultStateDir, PRIVATE } from '../../../agent/src/platform/windows/state-dir.ts'

const koffi = loadKoffi()
const real = createFolderSecurity(koffi)
const prepare = createStateDir(withoutAccessLists(real, PRIVATE))
const messageOf = (attempt: () => void): string => {
  try {
    attempt()
    return 'done'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
const dir = defaultStateDir(process.env)
const first = messageOf(() => prepare(dir))
const again = messageOf(() => prepare(dir))
const folder = real.open(dir)
const sddl = folder?.sddl()
// Nobody can rename a folder that is open.
const isProtected = folder?.protect(PRIVATE)
folder?.close()
writeFileSync(
  'Z:\\agent\\state-dir.json',
  JSON.stringify({
    ...{ isWine: runsUnderWine(koffi), dir, first, again, exists: existsSync(dir), sddl, isProtected },
    wine: messageOf(() => createStateDir(real)('C:\\ProgramData\\Wine')),
    file: messageOf(() => prepare('C:\\ProgramData\\File')),
    link: messageOf(() => prepare('C:\\ProgramData\\Link')),
    nowhere: messageOf(() => prepare('C:\\ProgramData\\None\\Below')),
    names: real.open('C:\\ProgramData\\Hard')?.names,
  }),
)
