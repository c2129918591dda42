import { behaviour, looksLikeController } from './behaviour.ts'
import { createClassSets } from './class-sets.ts'
import { type CompiledTest, compileTest, type Subject } from './device-test.ts'
import type { AttackFinding, AttackToolRow, GenuineRow } from './knowledge-types.ts'
import { createRowIndex } from './row-index.ts'
import { boardKeyboard, canType, marksOf } from './typing.ts'

interface Tool {
  row: AttackToolRow
  when: CompiledTest
  support: CompiledTest[]
}

const idText = ({ vid, pid, pidTo }: AttackToolRow): string => `${vid}:${pid ?? 'any'}${pidTo ? `-${pidTo}` : ''}`

/** Returns the finding of a list entry, before behaviour is evaluated. */
const listed = (tool: Tool, subject: Subject): AttackFinding | null => {
  const { row } = tool
  // The ids alone of a board or an ordinary product are no finding.
  if (row.group === 'policy' || ((row.group === 'real' || row.group === 'board') && !row.when)) return null
  const seen = tool.when(subject)
  if (seen === null) return null
  const evidence = [...seen]
  if (row.vid) evidence.unshift(`ids ${idText(row)} are on the list`)
  if (row.group === 'board') {
    if (!canType(subject)) return null
    evidence.push('a developer board that acts as a keyboard')
  }
  const supported = tool.support.flatMap((test) => test(subject) ?? [])
  // Ids that several makers share count only with the tool's own strings.
  if (row.sharedWith !== undefined && supported.length === 0) return null
  return {
    // Stryker disable next-line StringLiteral: merge only compares the level with confirmed.
    level: supported.length > 0 ? 'confirmed' : 'suspected',
    name: row.name,
    evidence: [...evidence, ...supported],
    source: row.source,
  }
}

/** Merges the findings about a device: the highest level, the name of the best match, and all evidence. */
const merge = (findings: AttackFinding[]): AttackFinding | null => {
  const [first] = findings
  if (!first) return null
  const level = findings.some((f) => f.level === 'confirmed') ? 'confirmed' : 'suspected'
  const evidence = [...new Set(findings.flatMap((f) => f.evidence))]
  return { level, name: first.name, evidence, source: [...new Set(findings.map((f) => f.source))].join('; ') }
}

/**
 * Evaluates devices by the list of known attack tools, the classes of HID-only products, and behaviour. `contradicts` is
 * true if the device cannot be the product that its VID and PID name, so no finding about that product applies to it.
 */
export const createAttackTools = (
  rows: readonly AttackToolRow[],
  genuine: readonly GenuineRow[],
  productName?: (vid: string, pid: string) => string | null,
) => {
  const compile = (row: AttackToolRow): Tool => ({
    row,
    when: compileTest(row.when),
    // Stryker disable next-line ArrayDeclaration: A string has no conditions, so it supports nothing.
    support: (row.support ?? []).map(compileTest),
  })
  const byId = createRowIndex(rows, compile)
  const byStrings = rows.filter((row) => !row.vid && row.when).map(compile)
  const imitations = createClassSets(genuine, productName)
  return {
    imitations,
    assess: (subject: Subject): { finding: AttackFinding | null; contradicts: boolean } => {
      const { vid, pid } = subject.parsed
      const findings: AttackFinding[] = []
      for (const tool of byStrings) {
        const found = listed(tool, subject)
        if (found) findings.push(found)
      }
      const tools = byId.find(vid, pid)
      for (const tool of tools) {
        const found = listed(tool, subject)
        if (!found) continue
        findings.push(found)
        break
      }
      let contradicts = false
      for (const { row, level, name, evidence } of imitations(subject)) {
        contradicts ||= level === 'confirmed'
        findings.push({ level, name, evidence, source: row.source })
      }
      // Stryker disable next-line ArrayDeclaration: A mark without points adds nothing.
      const marks = looksLikeController(subject) ? [] : marksOf(subject)
      const acts = behaviour(subject, marks)
      if (acts) findings.push(acts)
      const board = boardKeyboard(marks)
      if (board) {
        const row = tools.find((tool) => tool.row.group === 'board')?.row
        findings.push(row === undefined ? board : { ...board, name: `${row.name}, acting as a keyboard` })
      }
      return { finding: merge(findings), contradicts }
    },
  }
}
