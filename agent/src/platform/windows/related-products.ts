/** The versions of the agent that Windows Installer has registered. */
import type { Koffi } from './koffi.ts'

const MOST_PRODUCTS = 10
const CODE_LENGTH = 38

/** Returns the product codes of the installed packages with this upgrade code. */
export const relatedProducts = (koffi: Koffi, upgradeCode: string): string[] => {
  const next = koffi
    .load('msi.dll')
    .func('uint32 MsiEnumRelatedProductsW(str16 code, uint32 reserved, uint32 index, _Out_ uint16_t* product)')
  const found: string[] = []
  for (let i = 0; i < MOST_PRODUCTS; i++) {
    const code = new Uint16Array(CODE_LENGTH + 1)
    if (next(upgradeCode, 0, i, code) !== 0) break
    found.push(String.fromCharCode(...code.subarray(0, CODE_LENGTH)))
  }
  return found
}
