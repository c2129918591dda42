import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from '../../../scripts/bootstrap/say.mjs'

/** Bundles a program for Node under Wine and returns its text. */
export const bundleForWine = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    logLevel: 'warning',
  })
  return outputFiles[0]?.text ?? ''
}
