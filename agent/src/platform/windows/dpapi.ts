import type { Koffi } from './koffi.ts'

/** Encrypts data so that only this account on this machine can decrypt it. */
export interface Dpapi {
  /** @throws if Windows refuses */
  seal(plain: Uint8Array, purpose: string): Uint8Array
  /** Returns undefined if the data was changed, or sealed for another purpose, account or machine. */
  unseal(sealed: Uint8Array, purpose: string): Uint8Array | undefined
}

/** CRYPTPROTECT_UI_FORBIDDEN. Never CRYPTPROTECT_LOCAL_MACHINE (4): every user of the machine could decrypt. */
const FLAGS = 1
const MAX_BYTES = 64 * 1024

interface Blob {
  cb: number
  pb: unknown
}

/** Calls the data protection functions of Windows (crypt32.dll). Create it once in a process. */
export const createDpapi = (koffi: Koffi): Dpapi => {
  koffi.struct('DATA_BLOB', { cb: 'uint32', pb: 'void*' })
  const library = koffi.load('crypt32.dll')
  const protect = library.func(
    'bool CryptProtectData(DATA_BLOB* i, str16 d, DATA_BLOB* e, void* r, void* p, uint32 f, _Out_ DATA_BLOB* o)',
  )
  const unprotect = library.func(
    'bool CryptUnprotectData(DATA_BLOB* i, void* d, DATA_BLOB* e, void* r, void* p, uint32 f, _Out_ DATA_BLOB* o)',
  )
  const free = koffi.load('kernel32.dll').func('void* LocalFree(void* p)')

  /** The purpose is not secret. It keeps a caller from opening data that was sealed for another purpose. */
  const blob = (data: Uint8Array): Blob => ({ cb: data.length, pb: Buffer.from(data) })

  function take({ cb, pb }: Blob): Uint8Array {
    try {
      return cb === 0
        ? new Uint8Array()
        : Uint8Array.from(koffi.decode(pb, koffi.array('uint8', cb, 'Typed')) as Uint8Array)
    } finally {
      free(pb)
    }
  }

  return {
    seal(plain, purpose) {
      const out: Blob = { cb: 0, pb: null }
      if (!protect(blob(plain), null, blob(Buffer.from(purpose)), null, null, FLAGS, out))
        throw new Error('Windows refused to seal the data.')
      return take(out)
    },
    unseal(sealed, purpose) {
      const out: Blob = { cb: 0, pb: null }
      if (sealed.length === 0 || sealed.length > MAX_BYTES) return undefined
      if (!unprotect(blob(sealed), null, blob(Buffer.from(purpose)), null, null, FLAGS, out)) return undefined
      return take(out)
    },
  }
}
