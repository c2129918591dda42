import { type Attacker, attackers, type Goal, goals } from './axes.ts'
import type { Cell, Row } from './cell.ts'
import { type ControlId, controls, testsOf } from './controls.ts'
import * as insiders from './rows/insiders.ts'
import * as operators from './rows/operators.ts'
import * as outsiders from './rows/outsiders.ts'
import * as people from './rows/people.ts'

const matrix: Readonly<Record<Attacker, Row>> = { ...outsiders, ...people, ...operators, ...insiders }
const controlIds = Object.keys(controls) as ControlId[]
const numberOf = (id: ControlId): number => controlIds.indexOf(id) + 1
const goalIds = Object.keys(goals) as Goal[]

/** Every cell with its attacker and goal, row by row. */
export const cells = (Object.keys(attackers) as Attacker[]).flatMap((attacker) =>
  goalIds.map((goal) => ({ attacker, goal, cell: matrix[attacker][goal] })),
)

/** Returns docs/security/takeover.md: the matrix, its notes, and the controls with their tests. */
export const takeoverPage = (): string => {
  const notes: string[] = []
  const shown = (attacker: Attacker, goal: Goal, cell: Cell): string => {
    if (cell.is === 'not applicable') return '–'
    const links = cell.by.map((id) => ` [${numberOf(id)}](#control-${numberOf(id)})`).join('')
    const text = `${cell.is === 'possible' ? '**possible**' : cell.is}${links}`
    if (cell.limit === undefined) return text
    const response = cell.response === undefined ? '' : ` *Response:* ${cell.response}`
    const number = notes.push(`**${attackers[attacker]}, ${goals[goal].toLowerCase()}.** ${cell.limit}${response}`)
    return `${text} (${number})`
  }
  const rows = (Object.keys(attackers) as Attacker[]).map((attacker) => {
    const row = goalIds.map((goal) => shown(attacker, goal, matrix[attacker][goal]))
    return `| **${attackers[attacker]}** | ${row.join(' | ')} |`
  })
  return `<!-- Generated from proof/attack/takeover/ by scripts/generate-reference.ts; edits are overwritten. -->

# Takeover matrix

The table shows what an attacker gains who already controls one part of the system. Each row is an attacker, each column a
goal. An attacker who gains another part, for example root on a host, continues in the row of that part.

- *Refused*: the controls prevent it. A note states the exception, if any.
- *Second approver*: one person alone cannot do it.
- *Detected*: it can succeed, and the controls make it visible.
- **Possible**: it can succeed. The note states the limit and the response; the controls reduce the damage.
- A dash: the goal does not apply.

Linked numbers refer to the [controls](#controls), numbers in parentheses to the [notes](#notes). Each control names the tests
that prove it. A test run fails if one of them fails or does not exist. In continuous integration, a skipped one counts as failed.

| Attacker | ${Object.values(goals).join(' | ')} |
|---|${goalIds.map(() => '---').join('|')}|
${rows.join('\n')}

## Notes

${notes.map((note, i) => `${i + 1}. ${note}`).join('\n')}

## Controls

${controlIds
  .map((id) => {
    const tests = testsOf(id).map(({ file, name }) => `\`${file}\`, “${name}”`)
    const label = tests.length === 1 ? 'Test' : 'Tests'
    return `${numberOf(id)}. <a id="control-${numberOf(id)}"></a>${controls[id][0]}. ${label}: ${tests.join('; ')}.`
  })
  .join('\n')}
`
}
