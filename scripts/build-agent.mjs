// Builds the agent: the files that the server offers to hosts, as a script (for hosts with Node) and as an executable, and
// the script for Windows, which is signed as an update.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { inject } from 'postject'
import { nodeFlags } from '../agent/src/node-flags.ts'
import { windowsScriptName } from '../domain/src/windows-script.ts'
import { fetchNode } from './bootstrap/node.mjs'
import { ROOT, say } from './bootstrap/say.mjs'
import { bundleAgent, bundleWindowsAgent, readReleaseKey, readVersion } from './bundle-agent.mjs'
import { releaseKeyFile } from './release-key-file.mjs'
import { stripElf } from './strip-elf.mjs'

const { values, positionals } = parseArgs({
  options: {
    'script-only': { type: 'boolean' },
    // For tests of updates, which need a newer agent.
    'agent-version': { type: 'string', default: readVersion() },
    // Executables for these systems, each with the pinned Node. By default: for this system, with the running Node.
    system: { type: 'string', multiple: true },
  },
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
  else if (values.system !== undefined)
    for (const system of values.system)
      files.push(await executable(system, join(await fetchNode(system), 'bin', 'node')))
  else if (process.platform === 'linux') files.push(await executable(`linux-${process.arch}`, process.execPath))
  else say(`an agent executable is only built on Linux, not on ${process.platform}; serving the script`)
  if (!values['script-only']) {
    const outfile = join(draft, windowsScriptName)
    await bundleWindowsAgent({ outfile, releaseKey, version })
    files.push(outfile)
  }
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

/** Writes the script in the draft as an executable for `system`, which contains the Node in the file `node`. */
async function executable(system, node) {
  const target = join(draft, `portcullis-agent-${system}`)
  const blob = join(draft, 'agent.blob')
  const config = join(draft, 'sea.json')
  // No snapshot, because it would fix the environment at build time. No code cache, because other CPU models reject it.
  // The blob contains the path of the script as given. A relative one makes it the same in every folder.
  writeFileSync(
    config,
    JSON.stringify({
      main: 'agent.cjs',
      output: 'agent.blob',
      disableExperimentalSEAWarning: true,
      execArgv: nodeFlags,
    }),
  )
  must(process.execPath, '--experimental-sea-config', 'sea.json')
  // Symbols only help to debug Node itself. Strip before the injection, because stripping would remove the embedded
  // program.
  writeFileSync(target, stripped(readFileSync(node)))
  await inject(target, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: FUSE })
  chmodSync(target, 0o755)
  rmSync(blob)
  rmSync(config)
  return target
}

/** Removes symbols. Other builds of Node than the pinned one may have an unknown layout; they work with symbols too. */
function stripped(program) {
  try {
    return stripElf(program)
  } catch (error) {
    if (values.system !== undefined) throw error
    say(`the agent keeps the symbols of this Node, and is larger: ${error.message}`)
    return program
  }
}

function must(program, ...args) {
  const done = spawnSync(program, args, { cwd: draft, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${basename(program)} ${args[0]}: ${done.stderr || done.error}`)
}

function describe(file) {
  return {
    name: basename(file),
    size: statSync(file).size,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
  }
}
