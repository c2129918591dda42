import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

/**
 * The public release key file that agent builds of this checkout hold: the one that PORTCULLIS_RELEASE_KEY_FILE names,
 * else `release-key.pub` in the checkout. Null when neither exists.
 */
export const releaseKeyFile = (env = process.env) => {
  if (env.PORTCULLIS_RELEASE_KEY_FILE) return env.PORTCULLIS_RELEASE_KEY_FILE
  const inCheckout = join(ROOT, 'release-key.pub')
  return existsSync(inCheckout) ? inCheckout : null
}
