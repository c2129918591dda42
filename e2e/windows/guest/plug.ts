/** Runs under Wine: attaches and removes the devices that the test asks for, and announces the change. */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createSetupApi } from '../../../agent/src/platform/windows/setup-api.ts'
import { ARRIVAL, announce, REMOVAL } from './announce.ts'
import { createAttach, type FixtureNode } from './devices.ts'

/** A change that the test asks for. */
interface Order {
  attach?: FixtureNode[]
  /** Keys below HKLM\SYSTEM\CurrentControlSet\Enum. */
  remove?: string[]
  end?: boolean
}

const koffi = loadKoffi()
createSetupApi(koffi)
const attach = createAttach(koffi)
const deleteTree = koffi.load('advapi32.dll').func('int RegDeleteTreeW(uintptr key, str16 path)')
const LOCAL_MACHINE = 0x8000_0002

const url = process.argv[2] ?? ''

const run = async (): Promise<void> => {
  for (;;) {
    const order = (await (await fetch(url)).json()) as Order
    if (order.end) break
    if (order.attach) attach(order.attach)
    for (const id of order.remove ?? []) deleteTree(LOCAL_MACHINE, `SYSTEM\\CurrentControlSet\\Enum\\${id}`)
    if (order.attach || order.remove) await announce(order.attach ? ARRIVAL : REMOVAL)
    else await sleep(20)
  }
  koffi.load('kernel32.dll').func('bool TerminateProcess(intptr process, uint32 code)')(-1n, 0)
}
void run()
