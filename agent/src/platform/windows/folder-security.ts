import type { Koffi } from './koffi.ts'
import type { FolderSecurity } from './state-dir.ts'

/** READ_CONTROL, WRITE_DAC and FILE_READ_ATTRIBUTES. */
const CHANGE = 0x20000 | 0x40000 | 0x80
const READ = 0x20000 | 0x80
/** Without FILE_SHARE_DELETE, so that nobody can rename or replace it while it is open. */
const SHARE_READ_WRITE = 3
const OPEN_EXISTING = 3
/** FILE_FLAG_BACKUP_SEMANTICS opens folders, FILE_FLAG_OPEN_REPARSE_POINT links themselves. */
const FLAGS = 0x02000000 | 0x00200000
const INVALID_HANDLE = -1n
const DIRECTORY = 0x10
const REPARSE_POINT = 0x400
const FILE_OBJECT = 1
const OWNER_AND_DACL = 1 | 4
/** DACL_SECURITY_INFORMATION and PROTECTED_DACL_SECURITY_INFORMATION. */
const PROTECTED_DACL = 0x80000004
const REVISION = 1
const MAX_SDDL = 64 * 1024

/** Calls the security functions of Windows (advapi32.dll). */
export const createFolderSecurity = (koffi: Koffi): FolderSecurity => {
  const kernel = koffi.load('kernel32.dll')
  const advapi = koffi.load('advapi32.dll')
  const createDirectory = kernel.func('bool CreateDirectoryW(str16 name, uint8_t* attributes)')
  const createFile = kernel.func(
    'intptr CreateFileW(str16 n, uint32 a, uint32 s, void* p, uint32 d, uint32 f, void* t)',
  )
  const closeHandle = kernel.func('bool CloseHandle(intptr handle)')
  const getInformation = kernel.func('bool GetFileInformationByHandle(intptr handle, _Out_ uint8_t* information)')
  const free = kernel.func('void* LocalFree(uintptr memory)')
  const parseSddl = advapi.func(
    'bool ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 s, uint32 r, _Out_ uint8_t* d, void* l)',
  )
  const printSddl = advapi.func(
    'bool ConvertSecurityDescriptorToStringSecurityDescriptorW(uintptr d, uint32 r, uint32 i, _Out_ uint8_t* s, _Out_ uint8_t* n)',
  )
  const getDacl = advapi.func(
    'bool GetSecurityDescriptorDacl(uintptr d, _Out_ uint8_t* p, _Out_ uint8_t* a, _Out_ uint8_t* f)',
  )
  const getSecurity = advapi.func(
    'uint32 GetSecurityInfo(intptr h, uint32 t, uint32 i, void* o, void* g, void* a, void* s, _Out_ uint8_t* d)',
  )
  const setSecurity = advapi.func(
    'uint32 SetSecurityInfo(intptr h, uint32 t, uint32 i, void* o, void* g, uintptr a, void* s)',
  )

  /** Calls a function with the address of a security descriptor. Returns undefined if the text is not one. */
  function withDescriptor<T>(sddl: string, use: (descriptor: bigint) => T): T | undefined {
    const out = Buffer.alloc(8)
    if (!parseSddl(sddl, REVISION, out, null)) return undefined
    const descriptor = out.readBigUInt64LE()
    try {
      return use(descriptor)
    } finally {
      free(descriptor)
    }
  }

  function sddlOf(handle: bigint): string | undefined {
    const out = Buffer.alloc(8)
    if (Number(getSecurity(handle, FILE_OBJECT, OWNER_AND_DACL, null, null, null, null, out)) !== 0) return undefined
    const descriptor = out.readBigUInt64LE()
    try {
      const [text, length] = [Buffer.alloc(8), Buffer.alloc(4)]
      if (!printSddl(descriptor, REVISION, OWNER_AND_DACL, text, length)) return undefined
      const address = text.readBigUInt64LE()
      try {
        const units = Math.min(length.readUInt32LE(), MAX_SDDL)
        const read = koffi.decode(address, koffi.array('uint16', units, 'Typed')) as Uint16Array
        return Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString('utf16le').split('\0', 1)[0]?.trim()
      } finally {
        free(address)
      }
    } finally {
      free(descriptor)
    }
  }

  function protect(handle: bigint, sddl: string): boolean {
    const status = withDescriptor(sddl, (descriptor) => {
      const [isPresent, dacl, isDefault] = [Buffer.alloc(4), Buffer.alloc(8), Buffer.alloc(4)]
      if (!getDacl(descriptor, isPresent, dacl, isDefault)) return undefined
      return Number(setSecurity(handle, FILE_OBJECT, PROTECTED_DACL, null, null, dacl.readBigUInt64LE(), null))
    })
    return status === 0
  }

  return {
    create: (path, sddl) =>
      withDescriptor(sddl, (descriptor) => {
        // SECURITY_ATTRIBUTES
        const attributes = Buffer.alloc(24)
        attributes.writeUInt32LE(attributes.length, 0)
        attributes.writeBigUInt64LE(descriptor, 8)
        return createDirectory(path, attributes) === true
      }) ?? false,
    open(path) {
      const open = (access: number): bigint =>
        BigInt(createFile(path, access, SHARE_READ_WRITE, null, OPEN_EXISTING, FLAGS, null) as number | bigint)
      let handle = open(CHANGE)
      if (handle === INVALID_HANDLE) handle = open(READ)
      if (handle === INVALID_HANDLE) return undefined
      const information = Buffer.alloc(52)
      if (!getInformation(handle, information)) {
        closeHandle(handle)
        return undefined
      }
      const attributes = information.readUInt32LE(0)
      return {
        isDirectory: (attributes & DIRECTORY) !== 0,
        isLink: (attributes & REPARSE_POINT) !== 0,
        names: information.readUInt32LE(40),
        sddl: () => sddlOf(handle),
        protect: (sddl) => protect(handle, sddl),
        close: () => void closeHandle(handle),
      }
    },
  }
}

/** Returns whether this is Wine, which does not store access lists. */
export const runsUnderWine = (koffi: Koffi): boolean => {
  const kernel = koffi.load('kernel32.dll')
  const ntdll = kernel.func('void* GetModuleHandleW(str16 name)')('ntdll.dll')
  return kernel.func('uintptr GetProcAddress(void* module, str name)')(ntdll, 'wine_get_version') !== 0
}

/** Reports every entry as private. For Wine only. Still detects links and files. */
export const withoutAccessLists = (security: FolderSecurity, sddl: string): FolderSecurity => ({
  create: security.create,
  open(path) {
    const entry = security.open(path)
    return entry && { ...entry, sddl: () => sddl, protect: () => true }
  },
})
