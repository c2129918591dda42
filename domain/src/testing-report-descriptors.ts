/** Builds HID report descriptors for tests (HID 1.11, 6.2.2), with the many ways in which a device can declare keys. */

const short = (prefix: number, value: number, size: 0 | 1 | 2 | 4): number[] => [
  prefix | (size === 4 ? 3 : size),
  ...Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) & 0xff),
]
const small = (prefix: number, value: number): number[] => short(prefix, value, value > 0xff ? 2 : 1)

const page = (value: number): number[] => small(0x04, value)
const usage = (value: number): number[] => small(0x08, value)
/** A usage that contains its page. */
const whole = (of: number, value: number): number[] => short(0x08, of * 0x10000 + value, 4)
const range = (from: number, to: number): number[] => [...small(0x18, from), ...small(0x28, to)]
const wholeRange = (of: number, from: number, to: number): number[] => [
  ...short(0x18, of * 0x10000 + from, 4),
  ...short(0x28, of * 0x10000 + to, 4),
]
const report = (value: number): number[] => small(0x84, value)
const fields = (size: number, count: number, maximum: number): number[] => [
  ...small(0x14, 0),
  ...small(0x24, maximum),
  ...small(0x74, size),
  ...small(0x94, count),
]
const input = (flags: number): number[] => small(0x80, flags)
const output = (flags: number): number[] => small(0x90, flags)
const feature = (flags: number): number[] => small(0xb0, flags)
const collection = (type: number, ...items: number[][]): number[] => [...small(0xa0, type), ...items.flat(), 0xc0]
const push = [0xa4]
const pop = [0xb4]
const delimited = (...sets: number[][]): number[] =>
  sets.flatMap((set) => [...small(0xa8, 1), ...set, ...small(0xa8, 0)])

const PHYSICAL = 0
const APPLICATION = 1
const LOGICAL = 2
const ARRAY = 0
const VARIABLE = 2
const CONSTANT = 3

const keyArray = [...page(7), ...fields(8, 6, 0x65), ...range(0, 0x65), ...input(ARRAY)]
const keyBits = [...page(7), ...fields(1, 0x20, 1), ...range(4, 0x23), ...input(VARIABLE)]
const modifiers = [...page(7), ...fields(1, 8, 1), ...range(0xe0, 0xe7), ...input(VARIABLE)]
const digits = [...page(7), ...fields(8, 6, 0x63), ...range(0x53, 0x63), ...input(ARRAY)]
const buttons = [...page(9), ...fields(1, 8, 1), ...range(1, 8), ...input(VARIABLE)]
const axes = [...page(1), ...fields(8, 2, 127), ...usage(0x30), ...usage(0x31), ...input(VARIABLE)]

/** Usages of collections, by name, and whether Linux creates an input device for them. */
const collections = {
  pointer: { of: 1, id: 1, isInput: true },
  mouse: { of: 1, id: 2, isInput: true },
  joystick: { of: 1, id: 4, isInput: true },
  'game pad': { of: 1, id: 5, isInput: true },
  keyboard: { of: 1, id: 6, isInput: true },
  keypad: { of: 1, id: 7, isInput: true },
  'multi-axis controller': { of: 1, id: 8, isInput: true },
  'wireless radio': { of: 1, id: 0x0c, isInput: true },
  'system control': { of: 1, id: 0x80, isInput: true },
  'consumer control': { of: 0x0c, id: 1, isInput: true },
  pen: { of: 0x0d, id: 2, isInput: true },
  telephony: { of: 0x0b, id: 1, isInput: false },
  'bar-code scanner': { of: 0x8c, id: 2, isInput: false },
  'power device': { of: 0x84, id: 4, isInput: false },
  'vendor collection': { of: 0xff00, id: 1, isInput: false },
} as const
type Name = keyof typeof collections
const names = Object.keys(collections) as Name[]

const inside = (name: Name, items: number[], type = APPLICATION): number[] => [
  ...page(collections[name].of),
  ...usage(collections[name].id),
  ...collection(type, items),
]

/** Ways to declare letters. The names say what is special. */
const letters = {
  'an array of keys': keyArray,
  'a bit for each key': keyBits,
  'usages with their page': [...fields(1, 0x20, 1), ...wholeRange(7, 4, 0x23), ...input(VARIABLE)],
  'a page that is restored': [
    ...page(7),
    ...push,
    ...page(0x0c),
    ...pop,
    ...fields(8, 6, 0x65),
    ...range(0, 0x65),
    ...input(ARRAY),
  ],
  'a page after the usages': [...page(0x0c), ...fields(8, 6, 0x65), ...range(0, 0x65), ...page(7), ...input(ARRAY)],
  'one key among alternatives': [...fields(1, 1, 1), ...delimited(whole(7, 4), whole(0x0c, 0xe2)), ...input(VARIABLE)],
  'single usages': [...page(7), ...fields(1, 3, 1), ...usage(4), ...usage(5), ...usage(6), ...input(VARIABLE)],
  'a nested collection': [...page(1), ...usage(6), ...collection(LOGICAL, keyArray)],
} as const
const noLetters = {
  'modifier keys only': modifiers,
  'digits only': digits,
  'buttons only': buttons,
  'axes only': axes,
  'constant keys': [...page(7), ...fields(8, 6, 0x65), ...range(0, 0x65), ...input(CONSTANT)],
  'keys as output': [...page(7), ...fields(8, 6, 0x65), ...range(0, 0x65), ...output(ARRAY)],
  'keys as feature': [...page(7), ...fields(8, 6, 0x65), ...range(0, 0x65), ...feature(ARRAY)],
  'an unused alternative': [...fields(1, 1, 1), ...delimited(whole(0x0c, 0xe2), whole(7, 4)), ...input(VARIABLE)],
  'a page that is not restored': [
    ...page(7),
    ...push,
    ...page(0x0c),
    ...fields(8, 6, 0x65),
    ...range(0, 0x65),
    ...input(ARRAY),
    ...pop,
  ],
  nothing: [],
} as const

export interface ReportDescriptor {
  what: string
  bytes: number[]
  /** True if Linux creates an input device with letters. */
  types: boolean
}

const keyboardUsage = (before: number[], type = APPLICATION): number[] => [
  ...page(1),
  ...before,
  ...collection(type, keyArray),
]

/** Report descriptors of many kinds. */
export const reportDescriptors: readonly ReportDescriptor[] = [
  ...names.flatMap((name) =>
    (['an array of keys', 'usages with their page', 'a page that is restored'] as const).map((what) => ({
      what: `${name} with ${what}`,
      bytes: inside(name, [...letters[what]]),
      types: collections[name].isInput,
    })),
  ),
  ...Object.entries(letters).map(([what, items]) => ({
    what: `keyboard: ${what}`,
    bytes: inside('keyboard', [...items]),
    types: true,
  })),
  ...Object.entries(noLetters).map(([what, items]) => ({
    what: `keyboard: ${what}`,
    bytes: inside('keyboard', [...items]),
    types: false,
  })),
  { what: 'a physical collection', bytes: inside('keyboard', [...keyArray], PHYSICAL), types: true },
  { what: 'a logical collection', bytes: inside('keyboard', [...keyArray], LOGICAL), types: false },
  { what: 'a range of usages before the collection', bytes: keyboardUsage(range(6, 7)), types: true },
  {
    what: 'two usages before the collection, keyboard first',
    bytes: keyboardUsage([...usage(6), ...whole(0xff00, 1)]),
    types: true,
  },
  {
    what: 'two usages before the collection, keyboard last',
    bytes: keyboardUsage([...whole(0xff00, 1), ...usage(6)]),
    types: false,
  },
  {
    what: 'alternative usages of the collection',
    bytes: keyboardUsage(delimited(usage(6), whole(0xff00, 1))),
    types: true,
  },
  { what: 'a usage with its page', bytes: [...whole(1, 6), ...collection(APPLICATION, keyArray)], types: true },
  {
    what: 'several reports',
    bytes: inside('consumer control', [...report(1), ...buttons, ...report(2), ...letters['usages with their page']]),
    types: true,
  },
  {
    what: 'keys of a vendor beside a mouse',
    bytes: [...inside('vendor collection', [...keyArray]), ...inside('mouse', [...buttons, ...axes])],
    types: true,
  },
  {
    what: 'a range that ends before it begins',
    bytes: inside('keyboard', [...page(7), ...fields(8, 6, 0x65), ...range(0x65, 0), ...input(ARRAY)]),
    types: false,
  },
]

/** Returns report descriptors that combine these at random, as `random` returns numbers from 0 to 1. */
export const randomReportDescriptors = (count: number, random: () => number): ReportDescriptor[] => {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  return Array.from({ length: count }, (_, index) => {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const name = pick(names)
      const type = pick([APPLICATION, APPLICATION, APPLICATION, PHYSICAL, LOGICAL])
      const hasLetters = random() < 0.4
      const items = pick(Object.entries(hasLetters ? letters : noLetters))
      return { name, type, hasLetters, items }
    })
    const isInput = parts.some(({ name, type }) => collections[name].isInput && type !== LOGICAL)
    // A nested keyboard is logical, so it changes nothing.
    return {
      what: `${index}: ${parts.map(({ name, type, items }) => `${name} (${type}) with ${items[0]}`).join(', ')}`,
      bytes: parts.flatMap(({ name, type, items }, at) =>
        inside(name, [...(parts.length > 1 ? report(at + 1) : []), ...items[1]], type),
      ),
      types: isInput && parts.some(({ hasLetters }) => hasLetters),
    }
  })
}
