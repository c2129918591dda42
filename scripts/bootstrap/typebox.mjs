import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Bundles the entry points of typebox for Node, which would otherwise open 680 files: 60 % of all modules of a command or
 * an agent. Bundlers (condition `module`) get the original files, so that they can drop unused code.
 */
export async function bundleTypebox(modules) {
  const { build } = await import('esbuild')
  const dir = join(modules, 'typebox')
  const manifestFile = join(dir, 'package.json')
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'))
  const files = Object.values(manifest.exports).map((one) => one.import)
  await build({
    entryPoints: files.map((file) => join(dir, file)),
    outbase: join(dir, 'build'),
    outdir: join(dir, 'bundle'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // The entry points share the state of their modules.
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    logLevel: 'error',
  })
  for (const [name, { import: file }] of Object.entries(manifest.exports))
    manifest.exports[name] = {
      types: file.replace(/\.mjs$/, '.d.mts'),
      module: file,
      default: file.replace('./build/', './bundle/'),
    }
  // Replaces the file, because other checkouts may share it through a hard link.
  writeFileSync(`${manifestFile}.new`, JSON.stringify(manifest, null, 2))
  renameSync(`${manifestFile}.new`, manifestFile)
}
