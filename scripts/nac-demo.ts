/**
 * Starts a simulated Cisco ISE and a simulated CounterACT to try quarantines: `node scripts/nac-demo.ts`. Prints the
 * values for the settings, then each request. Nothing is stored.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../server/test/certificates.ts'
import { startCounterAct } from '../server/test/peers/counteract.ts'
import { startIse } from '../server/test/peers/ise.ts'

const authority = await createAuthority('Test authority of the NAC demo')
const certificate = await authority.issue(['localhost'])
const ise = await startIse({ certificate, port: 19_060 })
const cact = await startCounterAct({ certificate, port: 19_443, seesAll: true })
const caFile = join(mkdtempSync(join(tmpdir(), 'nac-demo-')), 'ca.pem')
writeFileSync(caFile, authority.pem)

const say = (text: string): void => void process.stdout.write(`${text}\n`)
say(
  `Cisco ISE      ${ise.url}   user ${ise.user}   password ${ise.password}   ANC policy ${[...ise.policies].join(', ')}`,
)
say(`CounterACT     ${cact.url}   user ${cact.user}   password ${cact.password}`)
say(
  `Data Exchange  account ${cact.dexAccount}   password ${cact.dexPassword}   property ${[...cact.properties].join(', ')}`,
)
say(`Certificate authority of both: ${caFile}`)
say('Press Ctrl+C to stop.\n')

const shown = { ise: 0, cact: 0 }
setInterval(() => {
  for (const [name, peer] of [
    ['ise', ise],
    ['cact', cact],
  ] as const) {
    for (const { method, path } of peer.seen.slice(shown[name])) say(`${name.padEnd(5)} ${method} ${path}`)
    shown[name] = peer.seen.length
  }
}, 500)
