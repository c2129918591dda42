import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** What tests need beyond npm. A test whose program is missing skips itself and says so. */
const PACKAGES = [{ name: 'chromium', provides: '/usr/bin/chromium', why: 'the console is tested in a real browser' }]

const ENVIRONMENT = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }

/** Installs the missing packages where that is possible (root on Debian); says aloud what it does or why it does not. */
export function installDebianPackages() {
  const missing = PACKAGES.filter(({ provides }) => !existsSync(provides))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  for (const { name, why } of missing) console.log(`missing: ${name} (${why})`)
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(
      `not installed: that takes root on Debian (apt-get install ${names.join(' ')}); their tests are skipped`,
    )
    return
  }
  console.log(`installing ${names.join(' ')} with apt-get`)
  // Package lists are usually absent or old in a container, so an update comes first; its failure shows in the install.
  apt('update', '-q')
  const { ok, output } = apt('install', '-q', '-y', '--no-install-recommends', ...names)
  if (!ok) console.log(`not installed, their tests are skipped: ${output.trim().split('\n').at(-1)}`)
}

function apt(...args) {
  const done = spawnSync('apt-get', args, { env: ENVIRONMENT, encoding: 'utf8', timeout: 240_000 })
  return { ok: done.status === 0, output: `${done.stdout}${done.stderr}` }
}
