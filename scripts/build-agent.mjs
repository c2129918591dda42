// Builds the files that the server offers to hosts: the agent as a script (for hosts with Node) and as an executable.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { inject } from 'postject'
import { ROOT, say } from './bootstrap/say.mjs'
import { bundleAgent, readReleaseKey, readVersion } from './bundle-agent.mjs'
import { releaseKeyFile } from './release-key-file.mjs'

const { values, positionals } = parseArgs({
  // --agent-version is for tests of updates, which need a newer agent.
  options: { 'script-only': { type: 'boolean' }, 'agent-version': { type: 'string', default: readVersion() } },
  allowPositionals: true,
})
const [entry = join(ROOT, 'agent', 'src', 'main.ts'), out = join(ROOT, 'build', 'agent')] = positionals
// Node searches its own binary for this text to detect an embedded program.
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const version = values['agent-version']
const releaseKey = readKey()

mkdirSync(dirname(out), { recursive: true })
// Next to the target, because a directory cannot be renamed across file systems.
const draft = mkdtempSync(`${resolve(out)}-draft-`)
try {
  const script = join(draft, 'agent.cjs')
  await bundleAgent({ entry, outfile: script, releaseKey, version })
  const files = [script]
  if (values['script-only']) say('only the script is built')
  else if (process.platform === 'linux') files.push(await executable(script))
  else say(`an agent executable is only built on Linux, not on ${process.platform}; serving the script`)
  writeFileSync(
    join(draft, 'manifest.json'),
    `${JSON.stringify({ version, releaseKey, files: files.map(describe) }, null, 2)}\n`,
  )
  // Replaced in one step, so that the server never serves a new executable with an old digest.
  rmSync(out, { recursive: true, force: true })
  chmodSync(draft, 0o755)
  renameSync(draft, out)
} finally {
  rmSync(draft, { recursive: true, force: true })
}

function readKey() {
  const file = releaseKeyFile()
  try {
    return readReleaseKey(file)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

async function executable(script) {
  const target = join(draft, `portcullis-agent-linux-${process.arch}`)
  const blob = join(draft, 'agent.blob')
  const config = join(draft, 'sea.json')
  // No snapshot, because it would fix the environment at build time. No code cache, because other CPU models reject it.
  writeFileSync(config, JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true }))
  must(process.execPath, '--experimental-sea-config', config)
  copyFileSync(process.execPath, target)
  chmodSync(target, 0o755)
  // Symbols only help to debug Node itself. Strip before the injection, because stripping would remove the embedded
  // program.
  spawnSync('strip', ['--strip-all', target], { stdio: 'ignore' })
  await inject(target, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: FUSE })
  rmSync(blob)
  rmSync(config)
  return target
}

function must(program, ...args) {
  const done = spawnSync(program, args, { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${basename(program)} ${args[0]}: ${done.stderr || done.error}`)
}

function describe(file) {
  return {
    name: basename(file),
    size: statSync(file).size,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
  }
}
