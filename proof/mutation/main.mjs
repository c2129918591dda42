/** `npm run mutate -- GROUP…`: installs Stryker and runs it on groups of groups.mjs. */
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { groups } from './groups.mjs'
import { forgetSurvivors, resultOf, writePage } from './result.mjs'

const usage = `Usage: npm run mutate -- [--write] [--changed] GROUP…

  GROUP      ${Object.keys(groups).join(', ')}
  --write    writes the results into docs/proof/mutation.json and mutation.md
  --changed  tests only changed code, and what survived the last run

Stryker's own reports are build/mutation/GROUP.html and .json.
Exit code: 0 passed, 1 a group is below 90 %, has survivors without a reason or was not measured, 2 wrong arguments
`
const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const stryker = `${here}node_modules/@stryker-mutator/core/bin/stryker.js`
const run = (program, args, options) => spawnSync(program, args, { stdio: 'inherit', ...options }).status ?? 1

/** Returns when Stryker last wrote the report of a group. */
const reportedAt = (name) =>
  statSync(new URL(`../../build/mutation/${name}.json`, import.meta.url), { throwIfNoEntry: false })?.mtimeMs

const names = process.argv.slice(2).filter((name) => name !== '--write' && name !== '--changed')
if (names.length === 0 || names.some((name) => !Object.hasOwn(groups, name))) {
  process.stderr.write(usage)
  process.exit(2)
}
// Installing its packages with the others would slow down the first start of every command.
if (!existsSync(stryker) && run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here }) !== 0) process.exit(1)

process.exitCode = 0
for (const name of names) {
  const startedAt = performance.now()
  const changed = process.argv.includes('--changed') ? ['--incremental'] : []
  if (changed.length > 0) forgetSurvivors(name)
  const before = reportedAt(name)
  const status = run(process.execPath, [stryker, 'run', 'proof/mutation/stryker.config.mjs', ...changed], {
    cwd: root,
    env: { ...process.env, MUTATION_GROUP: name },
  })
  if (status !== 0 && reportedAt(name) === before) {
    process.stdout.write(
      `${name}: not measured, because the first run failed, before any code was changed. Stryker says why above.\n`,
    )
    process.exitCode = 1
    continue
  }
  const result = { ...resultOf(name), seconds: Math.round((performance.now() - startedAt) / 1000), load: loadavg()[1] }
  for (const { where, mutator } of result.survivors) process.stdout.write(`survived: ${where} ${mutator}\n`)
  process.stdout.write(
    `${name}: ${result.score} %, ${result.killed} killed, ${result.survivors.length} survived, ${result.ignored.length} left out with a reason; ${result.seconds} s\n`,
  )
  if (status !== 0 || result.survivors.length > 0) process.exitCode = 1
  if (process.argv.includes('--write')) writePage(name, result)
}
