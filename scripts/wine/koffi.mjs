import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPackage } from '../bootstrap/fetch-package.mjs'
import { withLock } from '../bootstrap/lock.mjs'
import { ROOT } from '../bootstrap/say.mjs'

const NAME = '@koromix/koffi-win32-x64'
/** Path of the library in the package. */
const LIBRARY = 'win32_x64/koffi.node'

/**
 * Returns the path of the library with which the agent calls Windows. `npm ci` installs it only on Windows, so this
 * fetches the version in the lockfile on other systems.
 */
export async function fetchKoffi() {
  const { version, integrity } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${NAME}`
  ]
  const home = join(ROOT, '.node')
  const target = join(home, `koffi-win32-x64-${version}`)
  await withLock(join(home, 'koffi.lock'), `koffi ${version}`, async () => {
    if (isInstalled(target)) return
    await fetchPackage({
      label: `koffi ${version}`,
      ...{ name: NAME, version, integrity, target },
      files: [LIBRARY, 'package.json'],
    })
  })
  return join(target, LIBRARY)
}

function isInstalled(target) {
  try {
    readFileSync(join(target, LIBRARY))
    return true
  } catch {
    return false
  }
}
