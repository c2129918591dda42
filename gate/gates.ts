import type { Check } from '../rig/verdict.ts'
import { audit } from './audit.ts'
import { availability } from './availability.ts'
import { browserHeaders } from './browser-headers.ts'
import { canaries } from './canaries.ts'
import { contentTypes } from './content-types.ts'
import { fuzz } from './fuzz.ts'
import { hostileStrings } from './hostile-strings.ts'
import { idor } from './idor.ts'
import { lyingDevices } from './lying-devices.ts'
import { massAssignment } from './mass-assignment.ts'
import { matrix } from './matrix.ts'
import { redos } from './redos.ts'
import { signIn } from './sign-in.ts'
import { sortOracle } from './sort-oracle.ts'
import { sources } from './sources.ts'
import { takeover } from './takeover.ts'
import { tokens } from './tokens.ts'
import { uploads } from './uploads.ts'

export const gates: readonly Check[] = [
  audit,
  availability,
  browserHeaders,
  canaries,
  contentTypes,
  fuzz,
  hostileStrings,
  idor,
  lyingDevices,
  massAssignment,
  matrix,
  redos,
  signIn,
  sortOracle,
  sources,
  takeover,
  tokens,
  uploads,
]
