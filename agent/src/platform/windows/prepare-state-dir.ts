import type { Platform } from '../platform.ts'
import { createFolderSecurity, runsUnderWine, withoutAccessLists } from './folder-security.ts'
import type { Koffi } from './koffi.ts'
import { createStateDir, PRIVATE } from './state-dir.ts'

/** Returns a function that makes the state directory private. */
export const createPrepareStateDir = (koffi: Koffi): Platform['prepareStateDir'] => {
  const security = createFolderSecurity(koffi)
  return createStateDir(runsUnderWine(koffi) ? withoutAccessLists(security, PRIVATE) : security)
}
