import { behaviour, looksLikeController } from './behaviour.ts'
import { type CompiledTest, compileTest, type Subject } from './device-test.ts'
import { type Comparison, compileGenuine } from './genuine.ts'
import { hobbyKeyboard } from './hobby-stack.ts'
import type { AttackFinding, AttackToolRow, GenuineRow, Imitation } from './knowledge-types.ts'
import { createRowIndex } from './row-index.ts'

interface Tool {
  row: AttackToolRow
  when: CompiledTest
  support: CompiledTest[]
}

const idText = ({ vid, pid, pidTo }: AttackToolRow): string => `${vid}:${pid ?? 'any'}${pidTo ? `-${pidTo}` : ''}`

/** Returns the finding of a list entry, before behaviour is evaluated. */
const listed = (tool: Tool, subject: Subject): AttackFinding | null => {
  const { row } = tool
  if (row.group === 'policy' || (row.group === 'real' && !row.when)) return null
  const seen = tool.when(subject)
  if (seen === null) return null
  const evidence = [...seen]
  if (row.vid) evidence.unshift(`ids ${idText(row)} are on the list`)
  if (row.group === 'board') {
    if (!subject.kinds.includes('Keyboard')) return null
    evidence.push('a developer board that acts as a keyboard')
  }
  const supported = tool.support.flatMap((test) => test(subject) ?? [])
  // A shared VID and PID prove nothing about a device that cannot type, and never distinguish the two products.
  if (row.sharedWith !== undefined && supported.length === 0) {
    if (!subject.kinds.includes('Keyboard')) return null
    evidence.push(`${row.sharedWith} has the same ids`)
  }
  return {
    level: supported.length > 0 ? 'confirmed' : 'suspected',
    name: row.sharedWith !== undefined && supported.length === 0 ? `${row.name} or ${row.sharedWith}` : row.name,
    evidence: [...evidence, ...supported],
    source: row.source,
  }
}

/** Minimum number of recordings for a row to cover revisions that were not recorded. */
const enoughSamples = 3

/**
 * A device that cannot be the product, or that has two very unlikely differences, is an imitation. One very unlikely
 * difference with another difference, or three small differences, are suspected. For a revision that was not recorded, a
 * single difference is not a finding. If few devices were recorded, such a revision lowers the level by one.
 */
const levelOf = ({ found, isKnownRevision }: Comparison, samples: number): AttackFinding['level'] | null => {
  const strong = found.filter((c) => c.weight >= 2).length
  const weak = found.length - strong
  const isThin = !isKnownRevision && samples < enoughSamples
  if (found.some((c) => c.weight === 3)) return 'confirmed'
  if (strong >= 2) return isThin ? 'suspected' : 'confirmed'
  if (isThin) return null
  if (strong === 1) return isKnownRevision || weak > 0 ? 'suspected' : null
  return weak >= 3 ? 'suspected' : null
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
 * Evaluates devices by the list of known attack tools, the facts of genuine products, and behaviour. `contradicts` is
 * true if the device cannot be the product that its VID and PID name, so no finding about that product applies to it.
 */
export const createAttackTools = (rows: readonly AttackToolRow[], genuine: readonly GenuineRow[]) => {
  const compile = (row: AttackToolRow): Tool => ({
    row,
    when: compileTest(row.when),
    support: (row.support ?? []).map(compileTest),
  })
  const byId = createRowIndex(rows, compile)
  const byStrings = rows.filter((row) => !row.vid && row.when).map(compile)
  const genuineById = createRowIndex(genuine, (row) => ({ row, compare: compileGenuine(row) }))
  const imitations = (subject: Subject): Imitation[] =>
    genuineById.find(subject.parsed.vid, subject.parsed.pid).flatMap(({ row, compare }) => {
      const comparison = compare(subject)
      const level = levelOf(comparison, row.samples)
      const { found, compared } = comparison
      const name =
        level === 'confirmed'
          ? `Imitation of ${row.name}`
          : `Differs from genuine ${row.name} (${found.length} of ${compared} fields)`
      return level === null ? [] : [{ level, name, row, evidence: found.map((c) => c.evidence) }]
    })
  return {
    imitations,
    assess: (subject: Subject): { finding: AttackFinding | null; contradicts: boolean } => {
      const { vid, pid } = subject.parsed
      const findings: AttackFinding[] = []
      for (const tool of byStrings) {
        const found = listed(tool, subject)
        if (found) findings.push(found)
      }
      for (const tool of byId.find(vid, pid)) {
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
      const acts = behaviour(subject)
      if (acts) findings.push(acts)
      const hobby = hobbyKeyboard(subject)
      if (hobby) findings.push(hobby)
      const merged = merge(findings)
      if (merged?.level === 'suspected' && looksLikeController(subject))
        merged.name = `Management controller of the server, or ${merged.name}`
      return { finding: merged, contradicts }
    },
  }
}
