/** Runs under Wine: uses the registry and writes the results. */
import { writeFileSync } from 'node:fs'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import {
  createRegistry,
  dwordValue,
  RegistryFault,
  type RegistryKey,
  registryLimits,
  VALUE_TYPES,
} from '../../../agent/src/platform/windows/registry.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'

const registry = createRegistry(createRegistryApi(loadKoffi()))
const KEY = 'HKLM\\Software\\Policies\\Portcullis' satisfies RegistryKey
const codeOf = (attempt: () => unknown): string => {
  try {
    return JSON.stringify(attempt() ?? null)
  } catch (error) {
    return error instanceof RegistryFault ? error.code : String(error)
  }
}

registry.writeDword(KEY, 'Layered', 1)
registry.writeText(`${KEY}\\AllowInstanceIDs`, '1', 'USB\\VID_0781&PID_5581\\Ü€')
registry.writeText(`${KEY}\\AllowInstanceIDs`, '2', '')
registry.write(KEY, 'Odd', { type: VALUE_TYPES.text, data: Buffer.from([65, 0, 66]) })
registry.write(KEY, 'Empty', { type: VALUE_TYPES.binary, data: new Uint8Array() })
registry.write(KEY, 'Strange', { type: 0x4242, data: Buffer.from([1, 2, 3, 4]) })
registry.flush(KEY)
const large = 'HKLM\\Software\\PortcullisLarge' satisfies RegistryKey
const seen = {
  dword: registry.readDword(KEY, 'layered'),
  holds: registry.holds(KEY, 'Layered', dwordValue(1)),
  text: registry.readText(`${KEY}\\AllowInstanceIDs`, '1'),
  names: registry.list(`${KEY}\\AllowInstanceIDs`).map(({ name }) => name),
  types: Object.fromEntries(registry.list(KEY).map(({ name, type, data }) => [name, [type, data.length]])),
  keys: registry.keys(KEY),
  missing: codeOf(() => registry.readDword(KEY, 'None')),
  missingKey: codeOf(() => registry.list('HKLM\\Software\\None\\Below')),
  wrongType: codeOf(() => registry.readDword(`${KEY}\\AllowInstanceIDs`, '1')),
  odd: codeOf(() => registry.readText(KEY, 'Odd')),
  written: codeOf(() => registry.readText('HKLM\\Software\\Fixture', 'Text')),
  number: codeOf(() => registry.readDword('HKLM\\Software\\Fixture', 'Number')),
  hostile: codeOf(() => registry.readDword('HKLM\\Software\\Fixture', 'Text')),
  tooLarge: codeOf(() => registry.read('HKLM\\Software\\Fixture', 'Large')),
  tooMany: codeOf(() => {
    for (let i = 0; i <= registryLimits.values; i++) registry.writeDword(large, `${i}`, i)
    return registry.list(large).length
  }),
  all: codeOf(() => {
    registry.remove(large, '0')
    return registry.list(large).length
  }),
}
registry.remove(KEY, 'Layered')
registry.remove(KEY, 'Layered')
const afterRemove = codeOf(() => registry.read(KEY, 'Layered'))
registry.removeTree(KEY)
registry.removeTree(KEY)
registry.removeTree(large)
writeFileSync(
  'Z:\\agent\\registry.json',
  JSON.stringify({ ...seen, afterRemove, afterTree: registry.keys('HKLM\\Software\\Policies') }),
)
