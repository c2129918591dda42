/** `npm run mutate -- [group…]`: breaks the product in small ways and shows which breaks no test notices. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../rig/root.ts'
import { apply } from './apply.ts'
import { groups, leastKilled } from './groups.ts'
import { compare, judgements } from './judged.ts'
import { mutants } from './mutants/index.ts'
import { ensureStryker, type Measured, measure } from './stryker.ts'
import { copyTree } from './tree.ts'

const names = [...groups.map(({ name }) => name), ...Object.keys(mutants)]

const usage = `Usage: npm run mutate -- [group…]

  group   ${names.join(', ')}; by default all

Stryker makes the mutants of ${groups.map(({ name }) => name).join(', ')}; people wrote the others.
Exit code: 0 passed, 1 mutants survived, 2 wrong arguments
`

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Prints a group's result; returns true if it reaches the bar and somebody judged every survivor. */
const judge = ({ group, killed, total, survivors, seconds }: Measured, tree: string): boolean => {
  const files = [...new Set(survivors.map(({ file }) => file))]
  const { unjudged, obsolete } = compare(survivors, judgements(), files)
  const share = total === 0 ? 0 : killed / total
  for (const { file, line, mutator, source, replacement } of unjudged)
    say(`  survived: ${file}:${line} ${mutator}: ${source}  ->  ${replacement}`)
  for (const { file, source } of obsolete) say(`  judged, but no longer survives: ${file}: ${source}`)
  say(
    `${group}: ${killed} of ${total} mutants killed (${percent(share)}, bar ${percent(leastKilled)}); ${survivors.length} survived, ${unjudged.length} of them not judged; ${seconds} s`,
  )
  writeFileSync(
    join(tree, '..', `${group}.json`),
    `${JSON.stringify({ group, killed, total, seconds, survivors }, null, 2)}\n`,
  )
  return share >= leastKilled && unjudged.length === 0 && obsolete.length === 0
}

const parsed = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } })
  } catch {
    return undefined
  }
}

const given = parsed()
const unknown = given?.positionals.filter((name) => !names.includes(name)) ?? []
if (given === undefined || unknown.length > 0) {
  process.stderr.write(unknown.length > 0 ? `Unknown groups: ${unknown.join(', ')}\n${usage}` : usage)
  process.exitCode = 2
} else if (given.values.help === true) say(usage)
else {
  const isWanted = (name: string): boolean => given.positionals.length === 0 || given.positionals.includes(name)
  const folder = join(root, 'build', 'mutation')
  mkdirSync(folder, { recursive: true })
  // Outside the checkout, or a test runner would find two copies of every test.
  const tree = join(process.env.PORTCULLIS_MUTATION_DIR ?? join(tmpdir(), `portcullis-mutation-${process.pid}`), 'tree')
  let passed = true
  const wanted = groups.filter(({ name }) => isWanted(name))
  if (wanted.length > 0) await ensureStryker()
  for (const group of wanted) {
    copyTree(tree)
    const measured = await measure(group, tree)
    passed = judge(measured, join(folder, 'tree')) && passed
  }
  for (const [name, some] of Object.entries(mutants).filter(([name]) => isWanted(name))) {
    copyTree(tree)
    const results = await apply(tree, some, say)
    const killed = results.filter(({ outcome }) => outcome === 'killed').length
    say(`${name}: ${killed} of ${some.length} mutants killed`)
    passed = passed && killed === some.length
  }
  process.exitCode = passed ? 0 : 1
}
