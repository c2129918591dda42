/**
 * A farm of SSH hosts in one process, on every address of 127.0.0.0/8: whoever signs in is let in, and the user name is
 * the name of the host that answers, with six devices and an identity of its own. Its parent may have it hold the
 * answers back (`hold`), give them (`go`), take so many milliseconds for one, half more or less (a number), and say how
 * many connections are open (`count`, answered with the number) and how often each host was read so far (`reads`).
 */
import { createHash } from 'node:crypto'
import { hub, plainKeyboard, storageStick, unifyingReceiver1207, webcam, yubiKey } from '@portcullis/domain/testing'
import ssh2 from 'ssh2'
import { chance } from '../chance.ts'
import { farmHostKey } from './host-key.ts'

/** As `od -An -v -tx1` prints. */
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

/** What the Linux script prints on a host of this name. */
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
  const said = devices.flatMap((d, i) => [
    ...['d', d.portPath, '1\n', '480\n', 'unknown\n', `${d.manufacturer ?? ''}\n`, `${d.product ?? ''}\n`],
    ...[i === 0 ? `${machine.slice(0, 12)}\n` : '', ''],
  ])
  const values = [...host, 'SKU\n', `${machine}\n`, ...nic, ...said].map((value) => `${value}\0`).join('')
  return `portcullis 1\nLinux\n${dump(Buffer.from(values))}${blocks}end\n`
}

let isHolding = false
let held: (() => void)[] = []
let open = 0
let slowMs = 0
const reads = new Map<string, number>()

const server = new ssh2.Server({ hostKeys: [farmHostKey] }, (client) => {
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
      else if (slowMs > 0) setTimeout(answer, slowMs * (0.5 + chance('answers of hosts')))
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
