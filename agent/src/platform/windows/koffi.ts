/** The library that calls functions of Windows. Loaded only on Windows. */
import { dirname, join } from 'node:path'

type Type = unknown
/** A Windows function. */
export interface NativeFunction {
  (...args: unknown[]): unknown
  /** Runs on another thread. The last argument is `(error, result) => void`, called on this thread. */
  async(...args: unknown[]): void
}
/** The part of koffi that the agent uses. */
export interface Koffi {
  load(library: string): { func(signature: string): NativeFunction }
  struct(name: string, members: Record<string, Type>): Type
  array(type: Type, length: number, hint: 'Typed'): Type
  pointer(type: Type): Type
  proto(signature: string): Type
  /** Copies a value from native memory. */
  decode(pointer: unknown, type: Type): unknown
  register(callback: (...args: never[]) => unknown, type: Type): unknown
}

/** Shared by all versions of the agent in this process, because koffi cannot be loaded twice. */
const LIBRARY = Symbol.for('portcullis.agent.koffi')
const shared = globalThis as { [LIBRARY]?: Koffi }

/** Loads koffi from the file next to node.exe. */
export const loadKoffi = (file = join(dirname(process.execPath), 'koffi.node')): Koffi => {
  const known = shared[LIBRARY]
  if (known !== undefined) return known
  const library = { exports: {} as Koffi }
  // Unlike `require`, this also works in the bundled agent.
  process.dlopen(library, file)
  shared[LIBRARY] = library.exports
  return library.exports
}

/** Returns the 16 bytes of a GUID as Windows stores them. */
export const guidBytes = (guid: string): Uint8Array => {
  const hex = Buffer.from(guid.replaceAll('-', ''), 'hex')
  return Uint8Array.from([3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((at) => hex[at] ?? 0))
}
