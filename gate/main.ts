/** `npm run gate -- [name…] [--quick]`: nobody gets in where he does not belong, and nothing that is sent is interpreted. */
import { runChecks } from '../rig/run-checks.ts'
import type { Check } from '../rig/verdict.ts'
import { audit } from './audit.ts'
import { browserHeaders } from './browser-headers.ts'
import { contentTypes } from './content-types.ts'
import { fuzz } from './fuzz.ts'
import { idor } from './idor.ts'
import { massAssignment } from './mass-assignment.ts'
import { matrix } from './matrix.ts'
import { redos } from './redos.ts'
import { sortOracle } from './sort-oracle.ts'
import { sources } from './sources.ts'
import { tokens } from './tokens.ts'

const gates: readonly Check[] = [
  audit,
  browserHeaders,
  contentTypes,
  fuzz,
  idor,
  massAssignment,
  matrix,
  redos,
  sortOracle,
  sources,
  tokens,
]

await runChecks('Gates', gates)
