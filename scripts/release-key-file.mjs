import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

/**
 * Returns the public release key file that agent builds of this checkout include: the file in
 * PORTCULLIS_RELEASE_KEY_FILE, else `release-key.pub` in the checkout. Null if neither exists.
 */
export const releaseKeyFile = (env = process.env) => {
  if (env.PORTCULLIS_RELEASE_KEY_FILE) return env.PORTCULLIS_RELEASE_KEY_FILE
  const inCheckout = join(ROOT, 'release-key.pub')
  return existsSync(inCheckout) ? inCheckout : null
}
