/** Writes `domain/src/kernel-drivers.ts` from the kernels that `npm test -- --all` unpacks. Keeps names of older kernels. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hidDrivers, usbDrivers } from '../../domain/src/kernel-drivers.ts'
import { driversAsSource, driversOfKernel, type KernelDriver, kernelsWithDrivers } from './driver-names.ts'

const listed = (bus: KernelDriver['bus'], drivers: typeof usbDrivers): KernelDriver[] =>
  [...drivers].flatMap(([folder, names]) => names.map((name) => ({ bus, name, folder })))

const drivers = [...listed('usb', usbDrivers), ...listed('hid', hidDrivers)]
const releases: string[] = []
for (const { release, files, whyNot } of kernelsWithDrivers()) {
  if (whyNot !== undefined) throw new Error(`${release}: ${whyNot}`)
  const dir = mkdtempSync(join(tmpdir(), 'kernel-drivers-'))
  const found = await driversOfKernel(files, dir)
  rmSync(dir, { recursive: true })
  console.log(`${found.release}: ${found.drivers.length} drivers; not loaded: ${found.notLoaded.join(', ')}`)
  releases.push(found.release)
  drivers.push(...found.drivers)
}
writeFileSync(
  fileURLToPath(new URL('../../domain/src/kernel-drivers.ts', import.meta.url)),
  driversAsSource(releases, drivers),
)
