import { generateKeyPairSync } from 'node:crypto'
import { describeSysfs } from '@portcullis/domain/testing'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import ssh2 from 'ssh2'
import { pollLinux } from '../domain/test/platforms/linux-host.ts'

/** Returns the poll output of a Linux host with these devices and any host name. */
const answerOf = (hostName: string, devices: readonly DeviceReport[]): Buffer => {
  // An empty line ends the greeting of a host.
  const lines = pollLinux(describeSysfs(devices)).toString('latin1').trimStart().split('\n')
  // Marker and system, then the values in hex. The first value is the output of `uname -snrm`.
  const end = lines.findIndex((line, at) => at >= 2 && !/^[0-9a-f ]*$/.test(line))
  const values = Buffer.from(lines.slice(2, end).join('').replaceAll(' ', ''), 'hex')
  const said = Buffer.concat([Buffer.from(`Linux ${hostName} 6.1.0 x86_64`), values.subarray(values.indexOf(0))])
  return Buffer.from(['', ...lines.slice(0, 2), said.toString('hex'), ...lines.slice(end)].join('\n'), 'latin1')
}

/** Starts an SSH server on 127.0.0.1 that accepts every sign-in and answers every command as this host. */
export const startPolledHost = async (hostName: string, devices: readonly DeviceReport[]) => {
  const answer = answerOf(hostName, devices)
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const server = new ssh2.Server({ hostKeys: [privateKey] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    client.on('session', (accept) => {
      accept().on('exec', (take) => {
        const channel = take()
        channel.write(answer)
        channel.exit(0)
        channel.end()
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as { port: number }).port, stop: (): void => void server.close() }
}
