import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { ROOT } from './say.mjs'

/** Returns an environment in which `node` is the given Node, for a program and its child processes. */
export const environmentFor = (node) => ({
  ...process.env,
  PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter),
})

/**
 * Runs a program in the checkout. Returns `{ok, output}`; the output contains both streams.
 * @param {string} node the Node to run it with, first in its PATH
 * @param {string[]} args
 * @param {{cwd?: string, inherit?: boolean, program?: string}} [options] `program`: a program other than Node
 */
export function run(node, args, { cwd = ROOT, inherit = false, program = node } = {}) {
  return new Promise((done) => {
    const stdio = ['ignore', inherit ? 2 : 'pipe', inherit ? 2 : 'pipe']
    const child = spawn(program, args, { cwd, stdio, env: environmentFor(node) })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
    child.once('error', (error) => done({ ok: false, output: error.message }))
    child.once('close', (code) => done({ ok: code === 0, output }))
  })
}

/** Returns the last lines of a failed npm run or build. */
export const tail = (output, lines = 15) => output.trimEnd().split('\n').slice(-lines).join('\n')
