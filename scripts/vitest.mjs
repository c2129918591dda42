import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

/** Path of the summary reporter's result. Tests of the reporter use a different file. */
export const SUMMARY = process.env.PORTCULLIS_TEST_SUMMARY ?? join(ROOT, 'build', 'test', 'summary.json')

const nothing = { passed: 0, failed: [], skipped: [], failedFiles: [], files: [] }

const REPORTERS = ['--reporter=dot', `--reporter=${join(ROOT, 'scripts', 'summary-reporter.mjs')}`]

/**
 * Runs vitest. Returns `{passed, failed: names, failedFiles, files: [{file, passed, seconds}], skipped: [{name,
 * reason}]}`. A run without a result, or with a bad exit code and no failed test, counts as one failure. A crash must
 * not look like success.
 */
export async function runVitest(args, env = {}) {
  rmSync(SUMMARY, { force: true })
  const code = await new Promise((done) => {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...REPORTERS, ...args],
      {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, ...env },
      },
    )
    child.once('error', () => done(-1))
    child.once('close', done)
  })
  const summary = read()
  if (summary === undefined) return { ...nothing, failed: [`vitest exited with code ${code} and without a result`] }
  if (code !== 0 && summary.failed.length === 0) summary.failed.push(`vitest ended with code ${code}`)
  return summary
}

function read() {
  try {
    return JSON.parse(readFileSync(SUMMARY, 'utf8'))
  } catch {
    return undefined
  }
}
