import type { Check } from '../kit/verdict.ts'
import { availability } from './availability.ts'
import { canaries } from './canaries.ts'
import { fuzz } from './fuzz.ts'
import { hostileStrings } from './hostile-strings.ts'
import { redos } from './redos.ts'
import { signIn } from './sign-in.ts'
import { sqlInjection } from './sql-injection.ts'
import { uploads } from './uploads.ts'

export const gates: readonly Check[] = [
  availability,
  canaries,
  fuzz,
  hostileStrings,
  redos,
  signIn,
  sqlInjection,
  uploads,
]
