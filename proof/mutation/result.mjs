import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { groups } from './groups.mjs'

const fromRoot = (path) => new URL(`../../${path}`, import.meta.url)
const data = fromRoot('docs/proof/mutation.json')

/** Removes the survivors from Stryker's report of a group. Otherwise, Stryker ignores new tests of code that runs on import. */
export const forgetSurvivors = (name) => {
  const path = fromRoot(`build/mutation/${name}.json`)
  const report = JSON.parse(readFileSync(path, 'utf8'))
  for (const file of Object.values(report.files))
    file.mutants = file.mutants.filter(({ status }) => status !== 'Survived' && status !== 'NoCoverage')
  writeFileSync(path, JSON.stringify(report))
}

/**
 * Reads Stryker's report of a group. `survivors` are mutants that no test detects, `ignored` those that a `Stryker
 * disable` comment or ignore.mjs leaves out with a reason. Mutants that do not compile do not count.
 */
export const resultOf = (name) => {
  const { files } = JSON.parse(readFileSync(fromRoot(`build/mutation/${name}.json`), 'utf8'))
  const all = Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ status, statusReason, mutatorName, location }) => ({
      ...{ status, where: `${file}:${location.start.line}`, mutator: mutatorName, reason: statusReason },
    })),
  )
  const pick = (...states) => all.filter(({ status }) => states.includes(status))
  const killed = pick('Killed', 'Timeout').length
  const survivors = pick('Survived', 'NoCoverage')
  return {
    score: Number(((100 * killed) / Math.max(1, killed + survivors.length)).toFixed(1)),
    killed,
    timedOut: pick('Timeout').length,
    survivors: survivors.map(({ where, mutator }) => ({ where, mutator })),
    ignored: pick('Ignored').map(({ where, mutator, reason }) => ({ where, mutator, reason })),
  }
}

const row = (...cells) => `| ${cells.join(' | ')} |`

const pageOf = (results) => {
  const measured = Object.keys(groups).filter((name) => results[name] !== undefined)
  const lines = measured.map((name) => {
    const { score, killed, timedOut, survivors, ignored, commit, date, load } = results[name]
    const shown = score < 90 ? `**${score} %**` : `${score} %`
    return row(name, shown, killed, timedOut, survivors.length, ignored.length, commit, date, load)
  })
  const missing = Object.keys(groups).filter((name) => results[name] === undefined)
  const sections = measured.map((name) => {
    const { survivors, ignored } = results[name]
    const all = [...survivors.map((one) => ({ ...one, reason: 'No reason yet.' })), ...ignored]
    const left = [...Map.groupBy(all, ({ reason }) => reason)].map(([reason, group]) => {
      const places = [...new Set(group.map(({ where }) => `\`${where}\``))]
      return `- ${reason} ${places.join(', ')}`
    })
    return [`### ${name}`, '', ...(left.length === 0 ? ['None.'] : left), ''].join('\n')
  })
  return `# Mutation tests

<!-- \`npm run mutate -- --write GROUP\` measures a group and writes this page. Do not edit it. -->

[Stryker](https://stryker-mutator.io) makes small changes to the modules that decide, one at a time. The score is the share
of changes that a test detects. A group passes with at least 90 % and a reason for each change that is left.

${[row('group', 'score', 'killed', 'of them by timeout', 'survived', 'left out', 'commit', 'date', 'load'), row(...Array(9).fill('---')), ...lines].join('\n')}
${missing.length === 0 ? '' : `\nNever measured: ${missing.join(', ')}.\n`}
*Survived*: no test detects the change. *Left out*: no test can detect it, or it decides nothing. The lists below name the
lines of the measured commit and the reasons. *Load*: the load of the machine over five minutes.

${sections.join('\n')}`
}

const git = (...args) => execFileSync('git', args, { cwd: fromRoot('.'), encoding: 'utf8' }).trim()

/** Stores the result of a group, and writes the page of all groups. The results of other groups keep their date. */
export const writePage = (name, result) => {
  const results = existsSync(data) ? JSON.parse(readFileSync(data, 'utf8')) : {}
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ':!docs') !== ''
  const commit = `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? ' with changes' : ''}`
  results[name] = { ...result, commit, date: new Date().toISOString().slice(0, 10) }
  writeFileSync(data, `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(fromRoot('docs/proof/mutation.md'), pageOf(results))
}
