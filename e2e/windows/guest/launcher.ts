/** Runs under Wine as the version 1.0.0 of a package, or as an update of itself. Appends what runs to a file. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { launchNewest } from '../../../agent/src/platform/windows/launcher.ts'

/** The test replaces it in the update. */
const VERSION = '1.0.0'

if (process.argv.includes('--version')) process.stdout.write(`${VERSION}\n`)
else {
  const process1 = loadKoffi().load('kernel32.dll').func('uint32 GetCurrentProcessId()')()
  appendFileSync('Z:\\agent\\launched.txt', `${VERSION} starts in its process: ${process1 === process.pid}\n`)
  const isLaunched = launchNewest({
    stateDir: 'Z:\\agent\\state',
    packaged: process.argv[1] ?? '',
    version: VERSION,
    architecture: 'windows-x64',
    trusted: [readFileSync('Z:\\agent\\release-key.txt', 'utf8')],
    prepareStateDir: () => undefined,
    onFailure: (message) => appendFileSync('Z:\\agent\\launched.txt', `${message.split('\n')[0]}\n`),
  })
  if (!isLaunched) {
    const script = process.argv[1] ?? ''
    const { stdout } = spawnSync(process.execPath, [script, '--version'], { encoding: 'utf8', timeout: 20_000 })
    appendFileSync('Z:\\agent\\launched.txt', `${VERSION} runs from ${script} and prints ${stdout.trim()}\n`)
  }
}
