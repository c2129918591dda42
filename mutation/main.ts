/** `npm run mutate -- [group…]`: changes the product in small ways and lists the changes that no test detects. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
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

const usage = `Usage: npm run mutate -- [group…] [--only text]…

  group   ${names.join(', ')}; by default all
  --only  only mutants of people whose sentence, file or test contains this text

Stryker makes the mutants of ${groups.map(({ name }) => name).join(', ')}; people wrote the others.
Exit code: 0 passed, 1 mutants survived, 2 wrong arguments
`

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const folder = join(root, 'build', 'mutation')

/** Prints the survivors of a group. Returns its result, and whether it reaches the bar with all survivors judged. */
const judge = ({
  group,
  killed,
  timedOut,
  total,
  files,
  survivors,
  seconds,
}: Measured): { passed: boolean; line: string } => {
  const { unjudged, obsolete } = compare(survivors, judgements(), files)
  const share = total === 0 ? 0 : killed / total
  for (const { file, line, mutator, source, replacement } of unjudged)
    say(`  survived: ${file}:${line} ${mutator}: ${source}  ->  ${replacement}`)
  for (const { file, source, replacement } of obsolete)
    say(`  judged, but no longer survives: ${file}: ${source}  ->  ${replacement}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, `${group}.json`),
    `${JSON.stringify({ group, killed, timedOut, total, seconds, survivors }, null, 2)}\n`,
  )
  return {
    passed: share >= leastKilled && unjudged.length === 0 && obsolete.length === 0,
    line: `${group}: ${killed} of ${total} mutants killed (${percent(share)}, bar ${percent(leastKilled)}), ${timedOut} of them by time; ${survivors.length} survived, ${unjudged.length} of them not judged; ${seconds} s`,
  }
}

/** Runs groups in copies of the checkout. Returns true if all passed. */
const mutate = async (
  isWanted: (name: string) => boolean,
  tree: string,
  only?: readonly string[],
): Promise<boolean> => {
  const results: { passed: boolean; line: string }[] = []
  const wanted = only === undefined ? groups.filter(({ name }) => isWanted(name)) : []
  if (wanted.length > 0) await ensureStryker()
  for (const group of wanted) {
    copyTree(tree)
    results.push(judge(await measure(group, tree)))
  }
  // Tests wait for databases and clocks, so two at once use all cores.
  const trees = [tree, `${tree}-2`]
  for (const [name, all] of Object.entries(mutants).filter(([name]) => isWanted(name))) {
    const isMeant = (text: string): boolean => (only ?? ['']).some((part) => text.includes(part))
    const some = all.filter(({ does, file, test }) => [does, file, test].some(isMeant))
    if (some.length === 0) continue
    const startedAt = performance.now()
    for (const one of trees) copyTree(one)
    const applied = await apply(trees, some, say)
    const killed = applied.filter(({ outcome }) => outcome === 'killed').length
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const line = `${name}: ${killed} of ${some.length} mutants killed; ${seconds} s`
    results.push({ passed: killed === some.length, line })
  }
  for (const { line } of results) say(line)
  return results.every(({ passed }) => passed)
}

const parsed = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean' }, only: { type: 'string', multiple: true } },
    })
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
  // Outside the checkout, because a test runner would otherwise find every test twice.
  const kept = process.env.PORTCULLIS_MUTATION_DIR
  const home = kept ?? join(tmpdir(), `portcullis-mutation-${process.pid}`)
  try {
    process.exitCode = (await mutate(isWanted, join(home, 'tree'), given.values.only)) ? 0 : 1
  } finally {
    if (kept === undefined) rmSync(home, { recursive: true, force: true })
  }
}
