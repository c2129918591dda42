import { type Attacker, attackers, type Goal, goals } from './axes.ts'
import type { Cell } from './cell.ts'
import { type Guard, proofsOf } from './guard.ts'
import { type GuardId, guards } from './guards.ts'
import { matrix } from './matrix.ts'

/** Markers in docs/security/README.md that enclose the generated matrix. */
const marks = {
  begin: '<!-- takeover:begin, generated from gate/takeover/ by scripts/generate-reference.ts -->',
  end: '<!-- takeover:end -->',
} as const

const guardIds = Object.keys(guards) as GuardId[]
const numberOf = (id: GuardId): number => guardIds.indexOf(id) + 1

/** Every cell with its attacker and goal, row by row. */
export const cells = (Object.keys(attackers) as Attacker[]).flatMap((attacker) =>
  (Object.keys(goals) as Goal[]).map((goal) => ({ attacker, goal, cell: matrix[attacker][goal] })),
)

const shown = (cell: Cell, note: number | null): string => {
  const mark = note === null ? '' : ` (${note})`
  if (cell.is === 'not applicable') return '–'
  const refs = cell.by.map((id) => ` [${numberOf(id)}](#guard-${numberOf(id)})`).join('')
  return `${cell.is === 'possible' ? '**possible**' : cell.is}${refs}${mark}`
}

/** Returns the matrix as Markdown: the table, the guards with their tests, and the notes. */
const takeoverText = (): string => {
  const notes: string[] = []
  const noteOf = (attacker: Attacker, goal: Goal, cell: Cell): number | null => {
    const place = `${attackers[attacker]}, ${goals[goal].toLowerCase()}`
    if (cell.is === 'possible') return notes.push(`**${place}.** ${cell.limit} *Response:* ${cell.response}`)
    if (cell.is === 'not applicable' || cell.note === undefined) return null
    return notes.push(`**${place}.** ${cell.note}`)
  }
  const rows = (Object.keys(attackers) as Attacker[]).map((attacker) => {
    const row = (Object.keys(goals) as Goal[]).map((goal) => {
      const cell = matrix[attacker][goal]
      return shown(cell, noteOf(attacker, goal, cell))
    })
    return `| **${attackers[attacker]}** | ${row.join(' | ')} |`
  })
  return [
    `| Attacker | ${Object.values(goals).join(' | ')} |`,
    `|---|${Object.values(goals)
      .map(() => '---')
      .join('|')}|`,
    ...rows,
    '',
    'A dash means that the goal does not apply. Linked numbers refer to the guards, numbers in parentheses to the notes.',
    '',
    '### Guards',
    '',
    ...guardIds.map((id) => {
      const guard: Guard = guards[id]
      const tests = new Set(
        proofsOf(guard).map(({ test }) => `\`${test.file}\`, “${test.name.replace(/^finding \d+[a-z]?: /, '')}”`),
      )
      const label = tests.size === 1 ? 'Test' : 'Tests'
      return `${numberOf(id)}. <a id="guard-${numberOf(id)}"></a>${guard.does}. ${label}: ${[...tests].join('; ')}.`
    }),
    '',
    '### Notes',
    '',
    ...notes.map((note, i) => `${i + 1}. ${note}`),
  ].join('\n')
}

/** Returns the page with the generated part replaced. */
export const withTakeover = (page: string): string => {
  const [begin, end] = [page.indexOf(marks.begin), page.indexOf(marks.end)]
  if (begin < 0 || end < begin) throw new Error('docs/security/README.md has no markers for the takeover matrix')
  return `${page.slice(0, begin)}${marks.begin}\n${takeoverText()}\n${page.slice(end)}`
}
