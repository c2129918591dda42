import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reach } from '@portcullis/platform/server/context.ts'
import type { DownloadSlots } from '@portcullis/platform/server/limiters/download-slots.ts'
import type { FileBytes, SharedFiles } from '@portcullis/platform/server/shared-files.ts'
import { installCommand, installScript, type Platform } from './install/script.ts'
import type { WindowsInstallers } from './windows-installer.ts'

interface BuildManifest {
  version: string
  files: { name: string; size: number; sha256: string }[]
}

const executables: Readonly<Record<Platform, string>> = {
  'linux-x64': 'portcullis-agent-linux-x64',
  'linux-arm64': 'portcullis-agent-linux-arm64',
}

export type Downloads = ReturnType<typeof createDownloads>

/** Provides the downloads for a new host: the agent as one executable, the script that installs it, and the Windows installer. */
export const createDownloads = ({
  buildDir,
  reach,
  installers,
  files,
  slots,
}: {
  buildDir: string
  reach(): Reach
  installers: WindowsInstallers
  files: SharedFiles
  slots: DownloadSlots
}) => {
  function manifest(): BuildManifest | null {
    try {
      return JSON.parse(readFileSync(join(buildDir, 'manifest.json'), 'utf8')) as BuildManifest
    } catch {
      return null
    }
  }
  const file = (platform: string) =>
    manifest()?.files.find((f) => f.name === (executables as Record<string, string>)[platform])
  const pin = (caKeyHash: string | null) => (caKeyHash === null ? {} : { caPin: caKeyHash })

  /** Returns the install script; null if no executable was built. */
  function script(): string | null {
    const { url, caKeyHash } = reach()
    const sha256: Partial<Record<Platform, string>> = {}
    for (const platform of ['linux-x64', 'linux-arm64'] as const) {
      const executable = file(platform)
      if (executable !== undefined) sha256[platform] = executable.sha256
    }
    return Object.keys(sha256).length === 0 ? null : installScript({ serverUrl: url, sha256, ...pin(caKeyHash) })
  }

  return {
    script,
    /** Returns the agent for a caller without a credential; null: it was not built. Throws above a limit. */
    executable: async (platform: string, ip: string): Promise<(FileBytes & { name: string }) | null> => {
      const found = platform === 'windows-x64' ? installers.plain() : file(platform)
      if (found === null || found === undefined) return null
      const path = 'path' in found ? found.path : join(buildDir, found.name)
      return { ...(await slots(ip, () => files.read(path))), name: found.name }
    },
    /**
     * Returns the install command for a host, which asks for the token. Without a built executable, the command runs
     * the agent from a checkout.
     */
    command: (): string => {
      const { url, caKeyHash } = reach()
      const text = script()
      if (text === null) return `npm run agent -- --server ${url} --token-file - --state-dir /var/lib/portcullis-agent`
      return installCommand({
        serverUrl: url,
        scriptSha256: createHash('sha256').update(text).digest('hex'),
        ...pin(caKeyHash),
      })
    },
  }
}
