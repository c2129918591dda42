import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatReleaseKeyFile, windowsScriptName } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair, unless } from '@portcullis/domain/testing'
import type { Rollout, RolloutHost } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeFlags } from '../../agent/src/node-flags.ts'
import {
  adminPassword,
  type RunningServer,
  remove,
  start,
  startServer,
  temporaryDir,
  until,
} from '../../proof/kit/harness.ts'
import { bundleWindowsAgent } from '../../scripts/bundle-agent.mjs'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

const release = releaseKeyPair()
const STATE = '/prefix/drive_c/ProgramData/Portcullis Agent'

const STOPPED =
  'for i in $(seq 600); do wine sc query PortcullisAgent | grep -q STOPPED && break; sleep 0.2; done; wine sc query PortcullisAgent'
const CONFIRMED = `for i in $(seq 900); do grep -q '"event":"update_confirmed"' '${STATE}/agent.log' && break; sleep 0.1; done`

describe('a Windows host that a real server updates, under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  let server: RunningServer
  const dataDir = temporaryDir()
  const dir = temporaryDir()
  const at = (name: string): string => join(dir, name)

  const bundle = (version: string, outfile: string) =>
    bundleWindowsAgent({ outfile, version, releaseKey: releaseKeyFileOf(release) })
  /** Signs a build with the command line and publishes it on the server. */
  const publish = async (file: string, version: string, architecture: string): Promise<void> => {
    const signed = start(
      'cli/src/main.ts',
      [
        ...['package', 'sign', file, '--version', version, '--architecture', architecture],
        ...['--key', at('release.key'), '--out', at(`${architecture}.pkg`)],
      ],
      {},
    )
    expect(await signed.ended, signed.output()).toBe(0)
    const published = start(
      'cli/src/main.ts',
      [
        ...['--server', server.url, '--user', 'admin', '--password-file', at('password')],
        ...['package', 'publish', at(`${architecture}.pkg`)],
      ],
      {},
    )
    expect(await published.ended, published.output()).toBe(0)
  }

  beforeAll(async () => {
    root = await createWineRoot()
    writeFileSync(at('release.key'), release.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    writeFileSync(at('release-key.pub'), formatReleaseKeyFile(releaseKeyFileOf(release)))
    writeFileSync(at('password'), adminPassword)
    server = await startServer(dataDir, {
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_RELEASE_KEY_FILE: at('release-key.pub'),
    })
  }, 600_000)
  afterAll(async () => {
    await server?.stop()
    root?.remove()
    remove(dataDir)
    remove(dir)
  })

  it('installs the build for Windows, not the newer one for Linux, and runs it', async () => {
    await bundle('1.0.0', at('agent.cjs'))
    await bundle('1.1.0', at(windowsScriptName))
    writeFileSync(at('linux'), '#!/bin/sh\necho 9.9.9\n')
    await publish(at(windowsScriptName), '1.1.0', 'windows-x64')
    await publish(at('linux'), '9.9.9', 'x64')
    root.add('agent.cjs', readFileSync(at('agent.cjs')))
    root.add('token', await server.enrolmentToken())
    root.add(
      'agent.env',
      `PORTCULLIS_AGENT_SERVER=${server.url}\r\nPORTCULLIS_AGENT_TOKEN_FILE=C:\\ProgramData\\Portcullis Agent\\token\r\n`,
    )
    // Wine ignores the recovery actions, so the script starts the service again.
    const run = root.start(`wineserver -p
mkdir -p '${STATE}'; mv token agent.env '${STATE}/'
wine sc create PortcullisAgent binPath= '"Z:\\agent\\node.exe" ${nodeFlags.join(' ')} "Z:\\agent\\agent.cjs" service' start= auto
wine sc start PortcullisAgent; ${STOPPED}
wine sc start PortcullisAgent; ${CONFIRMED}
wine sc stop PortcullisAgent; ${STOPPED}
sha256sum '${STATE}/versions/agent.cjs'; cat '${STATE}/agent.log'`)
    try {
      const host = async () => {
        const [found] = await server.agents()
        return found === undefined ? undefined : server.agent(found.uuid)
      }
      const { value: before } = await until('enrolled', host, 90_000)
      expect(before).toMatchObject({ serviceVersion: '1.0.0', facts: { architecture: 'windows-x64' } })
      const { id } = await server.post<Rollout>('rollouts/start', {
        kind: 'update',
        name: 'update',
        rings: [{ name: 'all', sharePercent: 100 }],
      })
      const { value: updated } = await until(
        'the host of the rollout',
        async () => {
          const { data } = await server.get<{ data: RolloutHost[] }>(`rollouts/${id}/hosts`)
          return data.find(({ state }) => state === 'done' || state === 'failed' || state === 'notReady')
        },
        120_000,
      )
      expect(updated).toMatchObject({ state: 'done' })
      expect(await host()).toMatchObject({ serviceVersion: '1.1.0' })
      const output = await run.done
      const sha256 = createHash('sha256')
        .update(readFileSync(at(windowsScriptName)))
        .digest('hex')
      expect(output).toContain(sha256)
      expect(output).not.toContain('update_rolled_back')
    } finally {
      await run.stop()
    }
  }, 300_000)
})
