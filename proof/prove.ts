/** `npm run prove -- [part…]`: measures the product, keeps the last result of each part, and writes the proof pages. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './kit/root.ts'
import { exitCodeOf, type Verdict, worstOf } from './kit/verdict.ts'
import { differingPages, renderPages } from './pages/pages.ts'
import { type Part, partsNamed } from './pages/parts.ts'
import {
  gapsOf,
  kept,
  missesOf,
  type Proof,
  readProof,
  uncommitted,
  unrecordedLimits,
  withAges,
  writeProof,
} from './pages/results.ts'
import { runPart } from './pages/run-part.ts'

const usage = `Usage: npm run prove -- [part…] [--quick] [--stale]
       npm run prove -- --pages | --check | --list [part…]

  part…     parts or pages to run, such as drill or gate/input; by default all
  --quick   run the short forms. They are kept only for parts that were never measured in full
  --stale   run only parts that are stale, incomplete or not measured in full
  --pages   write the pages again, with the present age of each result
  --check   check whether each part has a full result of the present inputs
  --list    print the names of the parts

Exit code: 0 passed, 1 a limit was missed (with --check: a page or limit is wrong), 2 wrong arguments, 3 incomplete
`

const readArguments = () => {
  try {
    const options = {
      quick: { type: 'boolean' },
      stale: { type: 'boolean' },
      pages: { type: 'boolean' },
      check: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const writePages = (runs: Proof['runs']): void => {
  const proof = withAges(root, { runs }, new Date())
  writeProof(root, proof)
  for (const [path, text] of Object.entries(renderPages(proof))) writeFileSync(join(root, path), text)
}

const runParts = async (chosen: readonly Part[], isQuick: boolean): Promise<void> => {
  const verdicts: Verdict[] = []
  for (const part of chosen) {
    const changed = uncommitted(root, part.inputs)
    if (changed.length > 0) {
      say(`${part.name}: not run, because these inputs are not committed: ${changed.join(', ')}`)
      verdicts.push('incomplete')
      continue
    }
    process.stderr.write(`${part.name} …\n`)
    const run = await runPart(root, part, isQuick ? 'short' : 'full')
    verdicts.push(run.verdict)
    say(`${part.name}: ${run.verdict} (${run.seconds} s, seed ${run.seed})`)
    for (const { finding } of missesOf(run)) say(`  missed: ${finding.what} ${finding.value}`)
    const { runs } = readProof(root)
    writePages({ ...runs, [part.name]: kept(runs[part.name], run) })
  }
  const verdict = worstOf(verdicts)
  say(`${verdict}: ${verdicts.length} parts ran`)
  process.exitCode = exitCodeOf(verdict)
}

const { values, positionals } = readArguments()
const { found, unknown } = partsNamed(positionals)
const proof = readProof(root)
if (values.help === true) say(usage)
else if (unknown.length > 0) {
  process.stderr.write(`Unknown parts: ${unknown.join(', ')}\n${usage}`)
  process.exitCode = 2
} else if (values.list === true) for (const { name, shows } of found) say(`${name}: ${shows}`)
else if (values.pages === true) writePages(proof.runs)
else if (values.check === true) {
  const [wrong, gaps] = [[...differingPages(root, proof), ...unrecordedLimits(root, proof)], gapsOf(root, proof)]
  for (const line of [...wrong, ...gaps]) say(line)
  say(wrong.length > 0 ? 'wrong' : gaps.length > 0 ? 'incomplete' : 'complete')
  process.exitCode = wrong.length > 0 ? 1 : gaps.length > 0 ? 3 : 0
} else {
  const gaps = gapsOf(root, proof)
  const isChosen = ({ name }: Part): boolean => values.stale !== true || gaps.some((gap) => gap.startsWith(`${name} `))
  await runParts(found.filter(isChosen), values.quick === true)
}
