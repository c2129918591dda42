import { guidBytes, type Koffi } from '../koffi.ts'
import type { CallResult, DeviceCalls } from './device-calls.ts'

const CR_SUCCESS = 0
/** Also finds devices that are not attached (CM_LOCATE_DEVNODE_PHANTOM). */
const LOCATE_ANY = 1
/** CM_DISABLE_UI_NOT_OK and CM_DISABLE_PERSIST. */
const DISABLE = 4 | 8
const REENUMERATE = 1
/** Together with CM_REENUMERATE_RETRY_INSTALLATION. */
const REENUMERATE_AND_INSTALL = 1 | 2
const HUB_INTERFACE = 'f18a0e88-c30c-11d0-8815-00a0c906bed8'
const IOCTL_USB_HUB_CYCLE_PORT = 0x220444
const GENERIC_WRITE = 0x40000000
const SHARE_ALL = 3
const OPEN_EXISTING = 3
const PATH_CHARACTERS = 1024
const TOKEN_ADJUST_AND_QUERY = 0x28
const SE_PRIVILEGE_ENABLED = 2
/** SP_DEVINFO_DATA of 64-bit Windows. */
const DEVINFO_BYTES = 32

/**
 * Calls Windows (cfgmgr32.dll, setupapi.dll, newdev.dll). Never used under Wine, which aborts the process on most of them.
 * Not run on a real Windows yet (`docs/guide/windows-verification.md`).
 */
export const createDeviceApi = (koffi: Koffi): DeviceCalls => {
  const manager = koffi.load('cfgmgr32.dll')
  const setup = koffi.load('setupapi.dll')
  const kernel = koffi.load('kernel32.dll')
  const security = koffi.load('advapi32.dll')
  const locate = manager.func('uint32 CM_Locate_DevNodeW(_Out_ uint8_t* node, str16 id, uint32 flags)')
  const disable = manager.func('uint32 CM_Disable_DevNode(uint32 node, uint32 flags)')
  const enable = manager.func('uint32 CM_Enable_DevNode(uint32 node, uint32 flags)')
  const setUp = manager.func('uint32 CM_Setup_DevNode(uint32 node, uint32 flags)')
  const reenumerate = manager.func('uint32 CM_Reenumerate_DevNode(uint32 node, uint32 flags)')
  const interfaces = manager.func(
    'uint32 CM_Get_Device_Interface_ListW(uint8_t* guid, str16 id, _Out_ uint16_t* list, uint32 length, uint32 flags)',
  )
  const createSet = setup.func('void* SetupDiCreateDeviceInfoList(void* guid, void* window)')
  const destroySet = setup.func('int32 SetupDiDestroyDeviceInfoList(void* set)')
  const openInfo = setup.func(
    'int32 SetupDiOpenDeviceInfoW(void* set, str16 id, void* window, uint32 flags, _Inout_ uint8_t* info)',
  )
  const lastError = kernel.func('uint32 GetLastError()')
  const createFile = kernel.func(
    'intptr CreateFileW(str16 name, uint32 access, uint32 share, void* security, uint32 how, uint32 flags, void* template)',
  )
  const control = kernel.func(
    'int32 DeviceIoControl(intptr file, uint32 code, uint8_t* input, uint32 size, _Out_ uint8_t* output, uint32 room, _Out_ uint8_t* length, void* overlapped)',
  )
  const close = kernel.func('int32 CloseHandle(intptr handle)')
  /** Loaded on first use: DiUninstallDevice is in a library that nothing else needs. */
  let uninstallDevice: ((...args: unknown[]) => unknown) | undefined

  /**
   * Windows requires SeLoadDriverPrivilege to reinstall a device. LocalSystem has it, but it is disabled by default.
   */
  function enableLoadDriver(): void {
    const openToken = security.func('int32 OpenProcessToken(intptr process, uint32 access, _Out_ uint8_t* token)')
    const lookUp = security.func('int32 LookupPrivilegeValueW(str16 system, str16 name, _Out_ uint8_t* luid)')
    const adjust = security.func(
      'int32 AdjustTokenPrivileges(intptr token, int32 all, uint8_t* state, uint32 size, void* old, void* needed)',
    )
    const token = Buffer.alloc(8)
    if (openToken(-1n, TOKEN_ADJUST_AND_QUERY, token) === 0) return
    // TOKEN_PRIVILEGES with one entry: count, LUID, attributes.
    const state = Buffer.alloc(16)
    const luid = Buffer.alloc(8)
    if (lookUp(null, 'SeLoadDriverPrivilege', luid) !== 0) {
      state.writeUInt32LE(1, 0)
      luid.copy(state, 4)
      state.writeUInt32LE(SE_PRIVILEGE_ENABLED, 12)
      adjust(token.readBigInt64LE(), 0, state, state.length, null, null)
    }
    close(token.readBigInt64LE())
  }
  let hasPrivilege = false

  /** Finds a device and calls a function of the configuration manager with it. */
  function withNode(id: string, call: (node: number) => unknown): CallResult {
    const node = Buffer.alloc(4)
    const found = Number(locate(node, id, LOCATE_ANY))
    return { code: found === CR_SUCCESS ? Number(call(node.readUInt32LE())) : found }
  }

  return {
    uninstall(instanceId) {
      uninstallDevice ??= koffi
        .load('newdev.dll')
        .func(
          'int32 DiUninstallDevice(void* window, void* set, uint8_t* info, uint32 flags, _Out_ uint8_t* needsRestart)',
        )
      const set = createSet(null, null)
      if (set === null) return { code: Number(lastError()) }
      try {
        const info = Buffer.alloc(DEVINFO_BYTES)
        info.writeUInt32LE(DEVINFO_BYTES)
        if (openInfo(set, instanceId, null, 0, info) === 0) return { code: Number(lastError()) }
        const needsRestart = Buffer.alloc(4)
        const isDone = uninstallDevice(null, set, info, 0, needsRestart) !== 0
        return isDone ? { code: 0, needsRestart: needsRestart.readInt32LE() !== 0 } : { code: Number(lastError()) }
      } finally {
        destroySet(set)
      }
    },
    disable: (instanceId) => withNode(instanceId, (node) => disable(node, DISABLE)),
    enable: (instanceId) => withNode(instanceId, (node) => enable(node, 0)),
    install(instanceId) {
      if (!hasPrivilege) enableLoadDriver()
      hasPrivilege = true
      return withNode(instanceId, (node) => {
        const ready = setUp(node, 0)
        const retried = reenumerate(node, REENUMERATE_AND_INSTALL)
        return Number(retried) === CR_SUCCESS ? retried : ready
      })
    },
    rescan: (instanceId) => withNode(instanceId, (node) => reenumerate(node, REENUMERATE)),
    cyclePort(hubInstanceId, port) {
      const list = new Uint16Array(PATH_CHARACTERS)
      const code = Number(interfaces(guidBytes(HUB_INTERFACE), hubInstanceId, list, list.length, 0))
      if (code !== CR_SUCCESS) return { code }
      const path = String.fromCharCode(...list.subarray(0, Math.max(0, list.indexOf(0))))
      const file = createFile(path, GENERIC_WRITE, SHARE_ALL, null, OPEN_EXISTING, 0, null)
      if (BigInt(file as number) === -1n) return { code: Number(lastError()) }
      try {
        // USB_CYCLE_PORT_PARAMS: connection index and status.
        const parameters = Buffer.alloc(8)
        parameters.writeUInt32LE(port)
        const isDone =
          control(file, IOCTL_USB_HUB_CYCLE_PORT, parameters, 8, parameters, 8, Buffer.alloc(4), null) !== 0
        return { code: isDone ? parameters.readUInt32LE(4) : Number(lastError()) }
      } finally {
        close(file)
      }
    },
  }
}
