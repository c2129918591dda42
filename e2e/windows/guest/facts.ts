/** Runs under Wine: writes the facts of the host and two readings of its boot. */
import { writeFileSync } from 'node:fs'
import { windowsBoot } from '../../../agent/src/platform/windows/boot.ts'
import { createWindowsFacts } from '../../../agent/src/platform/windows/facts.ts'
import { createFirmware } from '../../../agent/src/platform/windows/firmware.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createRegistry } from '../../../agent/src/platform/windows/registry.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'

const koffi = loadKoffi()
const registry = createRegistry(createRegistryApi(koffi))
const firmware = createFirmware(koffi)
const facts = createWindowsFacts({
  registry,
  firmware,
  agentVersion: '1.2.3',
  localAddress: () => '',
  enforcement: () => ({ grade: 'observe', reason: 'preview' }),
  releaseKey: () => '',
})
const boot = windowsBoot(registry)
writeFileSync(
  'Z:\\agent\\facts.json',
  JSON.stringify({
    facts: facts.collect(),
    machineIdHash: facts.machineIdHash(),
    smbiosHash: facts.smbiosHash(),
    table: firmware().length,
    boot: boot.id,
    elapsed: boot.elapsed(),
  }),
)
