/**
 * Simulates SSH hosts in one process, on every address of 127.0.0.0/8. It accepts every sign-in. The user name
 * selects the host that responds; each has six devices and its own identity.
 * The parent process sends messages: `hold` delays the responses, `go` releases them, a number sets the milliseconds
 * for a response (plus or minus half). `count` returns the number of open connections, and `reads` how often each host
 * was read.
 */
import { createHash } from 'node:crypto'
import { hub, plainKeyboard, storageStick, unifyingReceiver1207, webcam, yubiKey } from '@portcullis/domain/testing'
import ssh2 from 'ssh2'
import { seededRandom } from '../seeded-random.ts'
import { sshHostKey } from './host-key.ts'

/** Formats bytes as `od -An -v -tx1` does. */
const dump = (bytes: Buffer): string => {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 16)
    lines.push(` ${[...bytes.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')}\n`)
  return lines.join('')
}

const devices = [
  hub({ portPath: '1-1' }),
  storageStick({ portPath: '1-1.2' }),
  plainKeyboard({ portPath: '1-2' }),
  unifyingReceiver1207({ portPath: '1-3' }),
  webcam({ portPath: '1-8' }),
  yubiKey({ portPath: '2-1' }),
]
const blocks = devices
  .map(({ portPath, descriptors }) => `= ${portPath}\n${dump(Buffer.from(descriptors, 'base64'))}`)
  .join('')

/** Returns the output of the Linux script on a host of this name. */
const answerOf = (name: string): string => {
  const machine = createHash('md5').update(name).digest('hex')
  const host = [
    `Linux ${name} 6.1.0-40-amd64 x86_64`,
    'ID=debian\nVERSION_ID="12"\n',
    '12.8\n',
    'LENOVO\n',
    '20XW\n',
    '10\n',
  ]
  const nic = ['n', 'eth0', `02:${machine.slice(0, 10).replace(/(..)(?=.)/g, '$1:')}\n`, 'up\n']
  const deviceValues = devices.flatMap((d, i) => [
    ...['d', d.portPath, '1\n', '480\n', 'unknown\n', `${d.manufacturer ?? ''}\n`, `${d.product ?? ''}\n`],
    ...[i === 0 ? `${machine.slice(0, 12)}\n` : '', ''],
  ])
  const values = [...host, 'SKU\n', `${machine}\n`, ...nic, ...deviceValues].map((value) => `${value}\0`).join('')
  return `portcullis 1\nLinux\n${dump(Buffer.from(values))}${blocks}end\n`
}

let isHolding = false
let held: (() => void)[] = []
let open = 0
let slowMs = 0
const reads = new Map<string, number>()

const server = new ssh2.Server({ hostKeys: [sshHostKey] }, (client) => {
  let name = ''
  open++
  client.on('close', () => {
    open--
  })
  client.on('error', () => {})
  client.on('authentication', (context) => {
    name = context.username
    context.accept()
  })
  client.on('session', (accept) => {
    accept().on('exec', (take) => {
      const channel = take()
      reads.set(name, (reads.get(name) ?? 0) + 1)
      const answer = (): void => {
        channel.write(answerOf(name))
        channel.exit(0)
        channel.end()
      }
      if (isHolding) held.push(answer)
      else if (slowMs > 0) setTimeout(answer, slowMs * (0.5 + seededRandom('answers of hosts')))
      else answer()
    })
  })
})
server.listen(0, '0.0.0.0', () => {
  process.stdout.write(`${(server.address() as { port: number }).port}\n`)
})
process.on('message', (word) => {
  if (word === 'count') process.send?.(open)
  else if (word === 'reads') process.send?.(Object.fromEntries(reads))
  else if (typeof word === 'number') slowMs = word
  else isHolding = word === 'hold'
  if (word === 'go') {
    for (const answer of held) answer()
    held = []
  }
})
process.on('disconnect', () => process.exit(0))
