import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { kernelFiles } from '../../proof/kit/kernel/kernel-files.ts'
import { bootVm, eventually } from '../../proof/kit/kernel/vm.ts'
import { writeDeb } from '../../scripts/release/deb.ts'
import { agentPackage } from '../../scripts/release/packages-agent.ts'
import { TARGETS } from '../../scripts/release/targets.ts'
import { startPeer } from '../kernel/peer.ts'
import { type Subject, subjects } from './devices.ts'
import { programsMachine } from './root.ts'
import { serveDevices } from './usbip.ts'

export type Name = keyof typeof subjects

const hex = (device: Buffer, at: number): string => device.readUInt16LE(at).toString(16).padStart(4, '0').toUpperCase()
/** Returns the IDs of a device as rules contain them. */
export const idsOf = (name: Name) => {
  const { device } = subjects[name]().emulated
  return { vid: hex(device, 8), pid: hex(device, 10) }
}
/** Prints the device in sysfs. */
const pathOf = (name: Name): string => `path ${idsOf(name).vid} ${idsOf(name).pid}`.toLowerCase()

/** Shell functions for the machine. */
const FUNCTIONS = `
# path VID PID: prints the device in sysfs.
path() { for d in /sys/bus/usb/devices/*; do [ "$(cat $d/idVendor $d/idProduct 2>/dev/null | tr -d '\\n')" != "$1$2" ] || echo $d; done; }
# attach PORT NAME N: attaches a device to port N of the virtual controller, which takes over the connection.
attach() {
  exec 3<>/dev/tcp/10.0.2.2/$1
  echo $2 >&3
  echo $3 3 $((65537 + $3)) 3 >/sys/devices/platform/vhci_hcd.0/attach
  exec 3>&-
}
properties() { p=$(path $1 $2); [ -z "$p" ] || udevadm info --query=property $p; }
`

const machineOptions = (disk: string, deb: string): string[] => [
  ...['-netdev', 'user,id=own', '-device', 'virtio-net-pci,netdev=own'],
  ...['-drive', `file=${disk},format=raw,if=virtio,snapshot=on`],
  ...['-drive', `file=${deb},format=raw,if=virtio,readonly=on`],
]

const buildDeb = (dir: string): string => {
  const target = TARGETS.find(({ arch }) => arch === 'x64')
  if (target === undefined) throw new Error('no target')
  const draft = join(dir, 'package')
  mkdirSync(draft)
  return writeDeb(
    agentPackage({ executable: kernelFiles.agent, target, version: '0.0.1', seconds: 0, draft, level: 0 }),
  )
}

export type Rig = Awaited<ReturnType<typeof startRig>>

/** Boots a Debian system with the programs, installs the package of the agent and enrols it. */
export const startRig = async () => {
  const dir = temporaryDir()
  const peer = await startPeer()
  const wire = await serveDevices()
  const { disk, ...files } = programsMachine()
  const deb = buildDeb(dir)
  const startedAt = performance.now()
  const vm = await bootVm({
    ...files,
    dir,
    options: machineOptions(disk, deb),
    memoryMb: 2_048,
    parameters: 'root=/dev/vda rw net.ifnames=0 systemd.show_status=0 quiet',
    bootMs: 300_000,
  })
  const sh = (script: string, deadlineMs?: number) => vm.run(`${FUNCTIONS}${script}`, deadlineMs)
  console.log(`booted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  const all = new Map<Name, Subject>()

  const rig = {
    vm,
    sh,
    peer,
    /** Installs the package as an administrator does. */
    install: async (): Promise<void> => {
      await sh(
        `head -c ${statSync(deb).size} /dev/vdb >/run/agent.deb && dpkg -i /run/agent.deb && rm /run/agent.deb
printf 'PORTCULLIS_AGENT_SERVER=${peer.url}\\nPORTCULLIS_AGENT_INSECURE_HTTP=true\\nPORTCULLIS_AGENT_TOKEN_FILE=/etc/portcullis-agent/token\\n' >/etc/portcullis-agent/agent.env
(umask 077; echo ${peer.token} >/etc/portcullis-agent/token)
systemctl start portcullis-agent`,
        120_000,
      )
      await eventually('the first inventory arrives', () => peer.seen.facts !== undefined)
    },
    setMode: async (mode: 'Armed' | 'Free'): Promise<void> => {
      await peer.command('configure', { mode, applyToPresent: false })
      await eventually(`the agent says that it is ${mode}`, () => peer.seen.enforcement?.mode === mode)
    },
    setRules: async (...rules: PolicyRule[]): Promise<void> => {
      peer.setRules(...rules)
      await peer.command('policy', { version: peer.policyVersion() })
    },
    /** Attaches new devices, all at once, and waits until the kernel has read them. */
    plug: async (names: readonly Name[]): Promise<void> => {
      for (const name of names) {
        const subject = subjects[name]()
        all.set(name, subject)
        wire.offer(name, subject.emulated)
      }
      const attach = names.map((name, index) => `attach ${wire.port} ${name} ${index}`).join('\n')
      await sh(`${attach}`)
      for (const name of names)
        await eventually(`${name} is known to the kernel`, async () => (await sh(pathOf(name))) !== '')
    },
    unplug: async (names: readonly Name[]): Promise<void> => {
      for (const name of names) wire.detach(name)
      for (const name of names) await eventually(`${name} is gone`, async () => (await sh(pathOf(name))) === '')
      await sh('udevadm settle')
    },
    subject: (name: Name): Subject => {
      const subject = all.get(name)
      if (subject === undefined) throw new Error(`${name} was never attached`)
      return subject
    },
    stop: async (): Promise<void> => {
      await vm.stop()
      wire.stop()
      await peer.stop()
      remove(dir)
    },
  }
  return rig
}
