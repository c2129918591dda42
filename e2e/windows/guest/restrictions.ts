/**
 * Runs enforcement under Wine on the real registry. The Plug and Play tree and the calls that change it are a stand-in,
 * because Wine does not support them.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { plainKeyboard, storageStick, webcam } from '@portcullis/domain/testing'
import { RESTRICTIONS } from '../../../agent/src/platform/windows/enforcement/restriction-keys.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createRegistry } from '../../../agent/src/platform/windows/registry.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'
import { heldPolicy } from '../../../agent/test/passing.ts'
import { createWindowsHost } from '../../../agent/test/windows-host.ts'

/** Returns keys and values as the program `reg` of the system exports them. */
const exported = (): string => {
  spawnSync('reg', ['export', 'HKLM\\Software\\Policies', 'C:\\policies.reg', '/y'], { stdio: 'ignore' })
  const own = spawnSync('reg', ['query', 'HKLM\\Software\\PortcullisEnforcement'], { stdio: 'ignore' })
  return `${readFileSync('C:\\policies.reg', 'utf16le')}own key: ${own.status === 0 ? 'present' : 'missing'}`
}

const raw = createRegistryApi(loadKoffi())
const registry = createRegistry(raw)
registry.writeDword(RESTRICTIONS, 'DenyRemovableDevices', 0)
registry.writeText(`${RESTRICTIONS}\\AllowInstanceIDs`, '7', 'USB\\VID_1111&PID_2222\\OTHER')

const host = createWindowsHost({ raw })
const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })
host.machine.addPhantom(storageStick({ portPath: '1-4', serial: 'OLD' }))
host.plug(keyboard)
host.plug(webcam({ portPath: '1-3' }))
const steps: Record<string, string> = {}
const timings: Record<string, number> = {}
function step(name: string, work: () => void): void {
  const began = performance.now()
  work()
  timings[name] = Math.round(performance.now() - began)
  steps[name] = exported()
}

const allow = { id: 'sticks', effect: 'allow', level: 'global', kinds: ['Mass Storage'] } as const
step('before', () => undefined)
step('armed', () => {
  host.arm([])
  host.plug(stick)
  host.settle()
})
const worksBlocked = host.machine.works('1-2')
step('approved', () => host.enforcer().usePolicy(heldPolicy([{ ...allow, kinds: ['Mass Storage'] }])))
const worksApproved = host.machine.works('1-2')
step('killed', () => {
  host.killAfter(2)
  try {
    host.enforcer().usePolicy(heldPolicy([]))
  } catch {
    // The agent ended.
  }
})
step('recovered', () => host.restart([]))
const worksRevoked = host.machine.works('1-2')
step('free', () => host.enforcer().free(''))
writeFileSync(
  'restrictions.json',
  JSON.stringify({
    steps,
    timings,
    works: { blocked: worksBlocked, approved: worksApproved, revoked: worksRevoked, free: host.machine.works('1-2') },
    grade: host.gate().grade(),
    phantoms: host.machine.phantoms().length,
  }),
)
