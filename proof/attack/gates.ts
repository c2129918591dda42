import type { Check } from '../kit/verdict.ts'
import { audit } from './audit.ts'
import { availability } from './availability.ts'
import { canaries } from './canaries.ts'
import { fuzz } from './fuzz.ts'
import { hostileStrings } from './hostile-strings.ts'
import { lyingDevices } from './lying-devices.ts'
import { redos } from './redos.ts'
import { signIn } from './sign-in.ts'
import { sources } from './sources.ts'
import { sqlInjection } from './sql-injection.ts'
import { tokens } from './tokens.ts'
import { uploads } from './uploads.ts'

export const gates: readonly Check[] = [
  audit,
  availability,
  canaries,
  fuzz,
  hostileStrings,
  lyingDevices,
  redos,
  signIn,
  sqlInjection,
  sources,
  tokens,
  uploads,
]
