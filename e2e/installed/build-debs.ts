/** `node e2e/installed/build-debs.ts DIR`: builds the `.deb` files of this checkout, and prints their paths as JSON. */
import { join } from 'node:path'
import { ROOT } from '../../scripts/bootstrap/say.mjs'
import { writeDeb } from '../../scripts/release/deb.ts'
import { agentPackage } from '../../scripts/release/packages-agent.ts'
import { serverPackage } from '../../scripts/release/packages-server.ts'
import { stageServer } from '../../scripts/release/server.ts'
import { hostTarget } from '../../scripts/release/targets.ts'

const draft = process.argv[2] ?? ''
const target = hostTarget()
const version = '0.2.0'
const common = { target, version, seconds: 1_700_000_000, draft, level: 0 }
const staged = await stageServer({ target, version, draft })
const executable = join(ROOT, 'build', 'agent', `portcullis-agent-${target.name}`)
const server = writeDeb(serverPackage({ ...common, staged }))
const agent = writeDeb(agentPackage({ ...common, executable }))
process.stdout.write(`${JSON.stringify({ server, agent })}\n`)
