import type { Attacker } from './axes.ts'
import type { Row } from './cell.ts'
import * as insiders from './rows/insiders.ts'
import * as operators from './rows/operators.ts'
import * as outsiders from './rows/outsiders.ts'
import * as people from './rows/people.ts'

/** What each attacker can achieve, as published in docs/security/takeover.md. */
export const matrix: Readonly<Record<Attacker, Row>> = { ...outsiders, ...people, ...operators, ...insiders }
