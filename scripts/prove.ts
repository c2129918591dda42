/** `npm run prove -- [part…]`: measures the product and writes docs/proof from the figures of one tree. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../rig/root.ts'
import { exitCodeOf, type Verdict, worstOf } from '../rig/verdict.ts'
import { checkProof } from './proof/check.ts'
import { proofOf, renderPages } from './proof/pages.ts'
import { type Part, partsNamed } from './proof/parts.ts'
import { runPart } from './proof/run-part.ts'
import { addRun, type Form, joinRuns, type Proof, readRuns } from './proof/store.ts'
import { readTree } from './proof/tree.ts'

const usage = `Usage: npm run prove -- [part…] [--quick] [--missing] [--parts DIR]…
       npm run prove -- --pages | --check | --list

  part…         parts or groups to run, such as drill, gate/fuzz or self-test; by default all
  --quick       run the short forms; their results are published separately
  --missing     run only parts that have not run on the current tree
  --parts DIR   folder for the runs, with one subfolder for each tree; default: build/proof. Repeat the option to also
                read runs from other machines
  --pages       write the pages from the runs on the current tree, without running anything
  --check       check whether the pages match the current tree and whether every part ran
  --list        print the names of all parts

Exit code: 0 passed, 1 a bar was missed (with --check: the pages are stale), 2 wrong arguments, 3 incomplete
`

const readArguments = () => {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        missing: { type: 'boolean' },
        parts: { type: 'string', multiple: true },
        pages: { type: 'boolean' },
        check: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

const { values, positionals } = readArguments()
const [base = join(root, 'build', 'proof'), ...others] = (values.parts ?? []).map((folder) => resolve(folder))
const proofFile = join(root, 'docs', 'proof', 'proof.json')

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Writes the pages from all stored and published runs on the current tree. */
const writePages = (): void => {
  const tree = readTree(root)
  const published = existsSync(proofFile) ? (JSON.parse(readFileSync(proofFile, 'utf8')) as Proof).parts : []
  const stored = [base, ...others].map((folder) => readRuns(folder, tree.hash))
  const proof = proofOf(tree, joinRuns(tree.hash, published, ...stored))
  writeFileSync(proofFile, `${JSON.stringify(proof, null, 2)}\n`)
  for (const [path, text] of Object.entries(renderPages(proof))) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  say(`docs/proof contains ${proof.parts.length} parts of tree ${tree.hash}`)
}

const runParts = async (chosen: readonly Part[], form: Form): Promise<void> => {
  const present = readRuns(base, readTree(root).hash)
  const hasRun = ({ name }: Part): boolean => present.some((one) => one.part === name && one.form === form)
  const verdicts: Verdict[] = []
  for (const part of chosen) {
    if (form === 'short' && !part.hasShortForm) continue
    if (values.missing === true && hasRun(part)) continue
    process.stderr.write(`${part.name} …\n`)
    const run = await runPart(root, part, form)
    if (run === undefined) {
      say(`${part.name}: incomplete because the sources changed during the run`)
      verdicts.push('incomplete')
      continue
    }
    addRun(base, part.name, form, run)
    verdicts.push(run.verdict)
    say(`${part.name}${form === 'short' ? ' (short form)' : ''}: ${run.verdict} (${run.seconds} s, seed ${run.seed})`)
  }
  writePages()
  const verdict = worstOf(verdicts)
  say(`${verdict}: ${verdicts.length} parts ran`)
  process.exitCode = exitCodeOf(verdict)
}

const { found, unknown } = partsNamed(positionals)
if (values.help === true) say(usage)
else if (unknown.length > 0) {
  process.stderr.write(`Unknown parts: ${unknown.join(', ')}\n${usage}`)
  process.exitCode = 2
} else if (values.list === true) for (const { name } of found) say(name)
else if (values.check === true) {
  const { stale, gaps, misses } = checkProof(root)
  for (const line of [...stale, ...gaps, ...misses]) say(line)
  say(stale.length > 0 ? 'stale' : gaps.length > 0 ? 'incomplete' : 'current and complete')
  process.exitCode = stale.length > 0 ? 1 : gaps.length > 0 ? 3 : 0
} else if (values.pages === true) writePages()
else await runParts(found, values.quick === true ? 'short' : 'full')
